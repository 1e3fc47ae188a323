"""A cluster of processes for a benchmark: in a directory of its own, with default tracing and live invariants."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

from backend.fabrics.fabric import ClusterFabric
from backend.fabrics.faults import FaultInjection
from backend.fabrics.home import Home
from backend.fabrics.processes import ProcessFabric
from backend.fabrics.watched_cluster import wait_until
from nodes.config import ClusterConfig, JournalConfig, Timing, WorkloadConfig, one_group
from nodes.families import family_named
from nodes.invariants import registry
from nodes.trace.events import Stamped

GREEN_S = 30.0


class Bench:
    """The cluster and the tools of a benchmark."""

    def __init__(self, fabric: ClusterFabric, invariants: registry.InvariantChecks):
        self.fabric = fabric
        self.faults = FaultInjection(fabric)
        self.invariants = invariants

    async def until(self, true: Callable[[], bool], timeout_s: float = GREEN_S) -> None:
        """Raises TimeoutError."""
        if not await wait_until(true, timeout_s):
            raise TimeoutError("the cluster did not come to where the benchmark waits for it")

    def broken(self) -> list[str]:
        return [failure.explanation for failure in self.invariants.failures + self.invariants.unjudged]


Make = Callable[[Path, ClusterConfig, Callable[[list[Stamped]], None], WorkloadConfig | None], ClusterFabric]
"""Builds a fabric in a directory of its own, without starting it."""


def processes(
    directory: Path,
    config: ClusterConfig,
    on_events: Callable[[list[Stamped]], None],
    workload: WorkloadConfig | None,
) -> ClusterFabric:
    return ProcessFabric(Home.make(directory, config), on_events, workload)


def group_of(protocol: str, standbys: int, **settings: Any) -> ClusterConfig:
    """One group of a family, with the nodes of its journal."""
    journal = JournalConfig(nodes=family_named(protocol).journal_names())
    return one_group(standbys, protocol=protocol, journal=journal, **settings)


@contextlib.asynccontextmanager
async def cluster(
    on_event: Callable[[Stamped], None],
    timing: Timing | None = None,
    workload: WorkloadConfig | None = None,
    config: ClusterConfig | None = None,
    make: Make = processes,
) -> AsyncIterator[Bench]:
    """One active and three standbys, all in step; ended and removed with the context."""
    config = config or one_group(timing=timing or Timing())
    invariants = registry.start(config)

    def on_events(events: list[Stamped]) -> None:
        for stamped in events:
            invariants.on_event(stamped)
            on_event(stamped)

    with tempfile.TemporaryDirectory(prefix="cloverlab-bench-", dir=os.environ.get("TMPDIR")) as directory:
        fabric = make(Path(directory), config, on_events, workload)
        bench = Bench(fabric, invariants)
        try:
            await fabric.start()
            await bench.until(fabric.settled)
            yield bench
        finally:
            await fabric.stop()
            fabric.home.close()


def described(
    name: str, config: Mapping[str, Any], figures: Mapping[str, Any], paper: Mapping[str, float]
) -> dict[str, Any]:
    """The one JSON object of a benchmark or an experiment."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    machine = {"cores": os.cpu_count(), "memory_gib": round(memory, 1), "python": platform.python_version()}
    return {"name": name, "machine": machine, "config": config, "figures": figures, "paper": paper}


def report(name: str, config: dict[str, Any], figures: Mapping[str, Any], paper: dict[str, float]) -> int:
    """Prints the one JSON object of a benchmark."""
    print(json.dumps(described(name, config, figures, paper), indent=1))
    return 0


def quantile(values: list[float], share: float) -> float:
    """The value below which that share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
