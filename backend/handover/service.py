"""Planned handover of a group's active role to one of its standbys."""

from __future__ import annotations

import time
from typing import Any

from backend.checkpoints.service import active_of, answers_as_active, ask
from backend.errors import FaultImpossible, Malformed, NotThere, Unavailable
from backend.fabrics.watched_cluster import wait_until
from backend.picture import ServerState
from backend.running_cluster import Running

ANSWER_S = 15.0
SERVE_S = 20.0


async def hand_over(lab: Running, group: str, server: str) -> dict[str, Any]:
    """Returns when another server serves. Raises Impossible with the reason when the active goes on; NotThere, Malformed, FaultImpossible,
    Unavailable."""
    check(lab, group, server)
    began_s = time.monotonic()
    old = active_of(lab, group)
    epoch = lab.fabric.picture.servers[old].epoch
    await ask(lab, old, {"do": "hand_over", "server": server}, ANSWER_S)

    def successors() -> list[ServerState]:
        servers = lab.fabric.picture.servers.values()
        return [
            each for each in servers if each.group == group and each.epoch > epoch and answers_as_active(each)
        ]

    if not await wait_until(lambda: bool(successors()), SERVE_S):
        raise Unavailable(f"{old} has handed over, and no server of {group} serves yet: see status")
    new = successors()[0]
    ms = round((time.monotonic() - began_s) * 1_000, 1)
    return {"group": group, "old": old, "new": new.name, "epoch": new.epoch, "ms": ms}


def check(lab: Running, group: str, server: str) -> None:
    picture = lab.fabric.picture
    if group not in picture.groups:
        raise NotThere(f"no group is called {group[:40]!r}; there are {', '.join(picture.groups)}")
    members = [each.name for each in picture.servers.values() if each.group == group]
    if server and server not in picture.servers:
        raise NotThere(f"no server is called {server[:40]!r}; {group} has {', '.join(members)}")
    if server and server not in members:
        raise Malformed(f"{server} is not a server of {group}, which has {', '.join(members)}")
    if lab.family.cannot_hand_over:
        protocol = lab.home.file.cluster.protocol
        raise FaultImpossible(f"{protocol} hands nothing over: {lab.family.cannot_hand_over}")
