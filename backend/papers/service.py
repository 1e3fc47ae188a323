"""The simulated clusters that show mechanisms, each opened by a reader of a page."""

from __future__ import annotations

import asyncio
import secrets
import time

import msgspec

from backend.errors import Impossible, NotThere
from backend.fleet.fleet import OF_PAPERS, Fleet
from backend.lab import Lab
from backend.papers.reader import mechanism_named
from backend.scenarios.runner import cluster_config, workload_config

CLUSTERS_MAX = 12
IDLE_S = 300.0
"""A cluster whose page nobody has open for so long makes room for a new one."""
SEED = 1


class PaperCluster(msgspec.Struct):
    """A cluster of a mechanism's page."""

    name: str
    paper: str
    mechanism: str
    settled: bool
    trouble: str
    """Why it could not start, or ended; empty else."""


class ShownCluster(msgspec.Struct):
    paper: str
    mechanism: str
    lab: Lab
    asked_s: float


class PaperClusters:
    """Kept in memory; a control plane that starts again begins without any, and removes their directories."""

    def __init__(self, fleet: Fleet):
        self._fleet = fleet
        self._all: dict[str, ShownCluster] = {}
        self._changing = asyncio.Lock()

    async def open(self, paper: str, name: str) -> PaperCluster:
        """Creates the cluster of a mechanism under its load. Raises LabError."""
        file = mechanism_named(paper, name).file
        async with self._changing:
            await self._make_room()
            cluster = f"{OF_PAPERS}{secrets.token_hex(4)}"
            config = msgspec.structs.replace(cluster_config(file.cluster, 1.0), cluster=f"clover-{cluster}")
            load = workload_config(file.workload, 1.0)
            lab = await self._fleet.create_exactly(cluster, config, SEED, load=load)
            self._all[cluster] = ShownCluster(paper, name, lab, time.monotonic())
        return self.view(cluster)

    async def _make_room(self) -> None:
        """Forgets clusters that were deleted, and ends the one that was idle for longest. Raises Impossible when all are in use."""
        self._all = {name: each for name, each in self._all.items() if self._fleet.find(name) is each.lab}
        if len(self._all) < CLUSTERS_MAX:
            return
        oldest = min(self._all, key=lambda name: self._all[name].asked_s)
        if time.monotonic() - self._all[oldest].asked_s < IDLE_S:
            raise Impossible(
                f"{CLUSTERS_MAX} clusters of papers are in use: close one of their pages, and wait"
            )
        del self._all[oldest]
        await self._fleet.delete(oldest)

    def view(self, name: str) -> PaperCluster:
        """The cluster now; it counts as used. Raises NotThere for one that has ended."""
        shown = self._all.get(name)
        if shown is None or self._fleet.find(name) is not shown.lab:
            raise NotThere(f"no cluster of a paper is called {name[:40]!r}: start it again")
        shown.asked_s = time.monotonic()
        fabric = shown.lab.fabric
        return PaperCluster(name, shown.paper, shown.mechanism, fabric.settled(), fabric.trouble)
