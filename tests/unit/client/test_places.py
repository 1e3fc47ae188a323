"""A client asks added servers for the places of blocks, too: those of its configuration may all be gone."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from nodes.client.placement import Placing
from nodes.wire.data_messages import FINAL, Located, Location


class Asked:
    def __init__(self) -> None:
        self.servers: list[str] = []

    def silent(self, server: str) -> bool:
        return False

    async def ask(self, server: str, question: object) -> Located | None:
        self.servers.append(server)
        return Located(1, [[Location("dn1", 1, 10, FINAL)]], {}) if server == "mds9" else None


def test_a_server_that_was_learned_later_is_asked_first() -> None:
    known, asked = ["mds1"], Asked()
    world: Any = SimpleNamespace(network=SimpleNamespace(know=lambda name, address: None))
    questions: Any = asked
    placing = Placing(world, questions, lambda group: known)
    assert asyncio.run(placing.locate([1 << 48])) == [[]]
    known.append("mds9")
    assert [place.node for place in asyncio.run(placing.locate([1 << 48]))[0]] == ["dn1"]
    assert asked.servers == ["mds1", "mds9"]
