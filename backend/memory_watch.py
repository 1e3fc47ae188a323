"""Warns before the control plane's memory, or on processes that of the whole cluster, is used up."""

from __future__ import annotations

import asyncio

from backend.fabrics.watched_cluster import WatchedCluster
from backend.names import CONTROL
from nodes.real.memory import used_share
from nodes.trace.events import Warned

EVERY_S = 10.0
MUCH = 0.8
AGAIN = 0.7
"""Share below which the next crossing of `MUCH` is warned of."""


class MemoryWatch:
    """One warning for each time at which memory runs short."""

    def __init__(self, fabric: WatchedCluster):
        self._fabric = fabric
        self._short = False

    async def run(self) -> None:
        """Looks every ten seconds until the task is cancelled."""
        while True:
            self.look(used_share())
            await asyncio.sleep(EVERY_S)

    def look(self, share: float) -> None:
        if share >= MUCH and not self._short:
            self._short = True
            self._fabric.report(CONTROL, Warned(f"{share:.0%} of the memory is used"))
        elif share < AGAIN:
            self._short = False
