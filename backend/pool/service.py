"""The pool at a moment, from stored events; and orders of a person to the active of a group."""

from __future__ import annotations

from typing import Any

import msgspec

from backend.checkpoints.service import active_of, ask
from backend.errors import NotThere
from backend.events import service as events
from backend.pool.volume import KINDS, pools
from backend.running_cluster import Running
from backend.store import queries

EVENTS_MOST = 5_000
"""Most events that a picture of the pool is made from, the newest ones; a report replaces all before it."""
ORDERS = {"check": "check_pool", "image": "take_image"}
ANSWER_S = 5.0


async def volumes(lab: Running, run: int, at_ns: int | None) -> list[Any]:
    """The pool of every group. Files outlive runs, so events of earlier runs count, too. Raises NotThere."""
    picture = await events.picture(lab, run, at_ns)
    await lab.store.flush()
    found = await queries.newest(lab.store.reader_of(run), KINDS, picture.seq, EVENTS_MOST)
    homes = {server.name: server.group for server in picture.servers.values()}
    reported: list[Any] = msgspec.to_builtins(pools(homes, (stamped for _, stamped in found)))
    return reported


async def order(lab: Running, group: str, do: str) -> str:
    """Orders an action; returns the active that carries it out. Raises NotThere, Impossible, Unavailable."""
    groups = lab.fabric.picture.groups
    if group not in groups:
        raise NotThere(f"no group is called {group[:40]!r}; there are {', '.join(groups)}")
    active = active_of(lab, group)
    await ask(lab, active, {"do": ORDERS[do]}, ANSWER_S)
    return active
