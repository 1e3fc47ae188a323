"""A simulated group under load with its invariants, for tests of images and of pruning below them."""

from __future__ import annotations

from typing import Any

from nodes.config import SECOND, ClusterConfig, WorkloadConfig
from nodes.invariants import registry
from nodes.sim.cluster import SimCluster

MIX: dict[str, float] = {"create": 5, "mkdir": 1, "stat": 3, "rename": 1, "delete": 1, "list": 1}


class AtWork:
    def __init__(self, config: ClusterConfig, seed: int, rate_per_s: float):
        self.cluster = SimCluster(config, seed, WorkloadConfig(clients=8, rate_per_s=rate_per_s, mix=MIX))
        self.checks = registry.start(config)
        self.cluster.on_event(self.checks.on_event)
        self.cluster.run_until(self.cluster.settled)

    def of(self, letter: str) -> str:
        """A server with this role letter in the view."""
        return next(name for name, each in self.cluster.view().items() if each == letter)

    def reported(self, kind: type, server: str = "") -> list[Any]:
        """The events of a kind, of one server or of all."""
        return [s.event for s in self.cluster.events if type(s.event) is kind and server in ("", s.server)]

    def crash_and_restart(self, name: str) -> None:
        self.cluster.faults.do("crash", [name])
        self.cluster.run_for(8 * SECOND)
        self.cluster.faults.restart(name)

    def finish(self) -> None:
        self.cluster.run_until(self.cluster.settled, 120 * SECOND)
        self.cluster.run_for(2 * SECOND)
        self.checks.finish()
        assert self.checks.failures == []
