"""Dials in vain delay the next one, until the peer is named again."""

from __future__ import annotations

import asyncio
import random
from types import SimpleNamespace
from typing import Any

from nodes.real.network import RealNetwork

ADDRESS = "127.0.0.1:1"


def test_a_peer_that_is_named_again_is_dialled_without_a_delay() -> None:
    async def body() -> None:
        unused: Any = SimpleNamespace(name="c", at_end=lambda step: None)
        network = RealNetwork(
            unused, unused, unused, unused, random.Random(1), lambda *words: None, unused, unused
        )
        network.know("mds1", ADDRESS)
        peer = network._peer("mds1")
        peer.failures = 5
        network.know("mds1", "")
        assert (peer.failures, peer.address) == (5, ADDRESS)
        network.know("mds1", ADDRESS)
        assert peer.failures == 0

    asyncio.run(body())
