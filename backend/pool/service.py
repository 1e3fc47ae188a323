"""The pool at a moment, from stored events; and what a person may order the active of a group to do with it."""

from __future__ import annotations

from typing import Any

import msgspec

from backend.checkpoints.service import ask, of_images
from backend.errors import NotThere
from backend.events import service as events
from backend.lab import Lab
from backend.pool.volume import KINDS, pools
from backend.store import queries

EVENTS_MOST = 5_000
"""The newest events that a picture of the pool is made of; a report takes the place of all before it."""
ORDERS = {"check": "check_pool", "image": "take_image"}
ANSWER_S = 5.0


async def volumes(lab: Lab, run: int, at_ns: int | None) -> list[Any]:
    """Of every group. Files outlive runs, so events of earlier ones count too. Raises NotThere."""
    picture = await events.picture(lab, run, at_ns)
    await lab.store.flush()
    found = await queries.newest(lab.store.reader, KINDS, picture.seq, EVENTS_MOST)
    homes = {server.name: server.group for server in picture.servers.values()}
    told: list[Any] = msgspec.to_builtins(pools(homes, (stamped for _, stamped in found)))
    return told


async def order(lab: Lab, group: str, do: str) -> str:
    """The active that will do it. Raises NotThere, Impossible, Unavailable."""
    groups = lab.fabric.picture.groups
    if group not in groups:
        raise NotThere(f"no group is called {group[:40]!r}; there are {', '.join(groups)}")
    active = of_images(lab, group)
    await ask(lab, active, {"do": ORDERS[do]}, ANSWER_S)
    return active
