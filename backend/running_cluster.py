"""The running cluster: what its pages, routes and metrics read. The laboratory above it makes it run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from backend.durations import Durations
from backend.evidence import CallHistory
from backend.fabrics.client import FileSystemClient, FsClient
from backend.fabrics.containers import ContainerFabric
from backend.fabrics.counters import Counted
from backend.fabrics.fabric import ClusterFabric
from backend.fabrics.faults import FaultInjection
from backend.fabrics.home import Home
from backend.fabrics.processes import ProcessFabric
from backend.fabrics.watched_cluster import WatchedCluster
from backend.invariant_alarm import Checks
from backend.picture import Picture
from backend.settings import Settings
from backend.simulated.client import SimulatedClient
from backend.simulated.fabric import SimulatedFabric
from backend.simulated.faults import SimulatedFaults
from backend.simulated.workers import Workers
from backend.store.buckets import Buckets
from backend.store.store import EventStore
from nodes.families import family_named
from nodes.trace.events import Stamped

CALL_BOUNDS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
TAKEOVER_BOUNDS_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
TAKEOVER_PARTS = ("detection", "election", "switch", "reconnect")
"""The parts of a `Failover`, in order; together they are the whole."""


class FaultInjector(Protocol):
    """The fault verbs of a cluster."""

    added: str
    """The server that the last `add_server` created."""
    forced: str
    """One line with the result of the last `force`."""

    async def do(self, name: str, words: list[str], options: dict[str, Any] | None = None) -> int:
        """Returns the fault's number, or that of the fault that it ended, 0 for none.

        Raises NotThere, Impossible, Malformed, FaultUnsupported or Unavailable, each with one line.
        """


def assembled(
    settings: Settings,
    home: Home,
    store: EventStore,
    last: Picture,
    on_events: Callable[[list[Stamped]], None],
    workers: Workers,
) -> tuple[WatchedCluster, FaultInjector, FileSystemClient]:
    """The cluster of the settings, with the faults and the client of its fabric."""
    workload = settings.workload
    if settings.simulated:
        simulated = SimulatedFabric(
            home, on_events, workload, store.run, workers, settings.plan, settings.past, settings.bounds
        )
        return simulated, SimulatedFaults(simulated), SimulatedClient(simulated)
    known = (workload, store.positions, store.run, last)
    fabric: ClusterFabric = (
        ContainerFabric(settings.inventory, home, on_events, *known)
        if settings.inventory
        else ProcessFabric(home, on_events, *known)
    )
    return fabric, FaultInjection(fabric), FsClient(fabric)


class Running:
    """A cluster on any fabric, the store of its events, and what is derived from them."""

    def __init__(
        self,
        settings: Settings,
        home: Home,
        store: EventStore,
        last: Picture,
        on_events: Callable[[list[Stamped]], None],
        workers: Workers,
    ):
        self.settings = settings
        self.home = home
        self.store = store
        self.family = family_named(home.file.cluster.protocol)
        self.buckets = Buckets()
        self.fabric, self.faults, self.client = assembled(settings, home, store, last, on_events, workers)
        self.fabric.picture.seq = store.seq
        self.fault_lock = asyncio.Lock()
        self.checks = Checks(home.file.cluster, lambda failed: self.fabric.report("checks", failed))
        self.calls = CallHistory(self._home_of)
        self.call_durations = Durations(CALL_BOUNDS_S)
        self.takeovers = {part: Durations(TAKEOVER_BOUNDS_S) for part in TAKEOVER_PARTS}
        """Of the takeovers since this control plane started, by part."""
        self.counted = Counted()
        """Of about a second ago."""
        self.start_s: float | None = None
        """How long the cluster took to settle."""
        self.trouble = ""
        self.no_faults = ""
        """Why nobody may cause a fault now; empty when everybody may."""
        self.bounds = settings.bounds
        self.followers: list[Callable[[list[Stamped]], None]] = []
        """Further receivers of the events."""

    def _home_of(self, server: str) -> str:
        known = self.fabric.picture.servers.get(server)
        return known.group if known else ""
