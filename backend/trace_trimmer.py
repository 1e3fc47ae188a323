"""Removes the files of servers' traces whose events the store has: a trace is only the way of events into the store."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping

from backend.errors import Unavailable
from backend.fabrics.fabric import ClusterFabric
from backend.store.store import EventStore

EVERY_S = 60.0


async def keep_trimmed(fabric: ClusterFabric, store: EventStore) -> None:
    """Trims the traces once a minute until the task is cancelled."""
    while True:
        await asyncio.sleep(EVERY_S)
        await trim(fabric, store.positions)


async def trim(fabric: ClusterFabric, positions: Mapping[str, int]) -> None:
    """Lets each running process remove whole files up to its position. A process that does not answer is asked again next time."""
    states = fabric.states()
    for name, number in list(positions.items()):
        if states.get(name) == "running":
            with contextlib.suppress(Unavailable):
                await fabric.ask(name, {"do": "trim_trace", "below": number + 1})
