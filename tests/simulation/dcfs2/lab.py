"""A simulated cluster of several groups with its invariants."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from nodes.config import SECOND, ClusterConfig, many_groups
from nodes.errors import FsError
from nodes.invariants import registry
from nodes.metadata import fsck
from nodes.metadata.pages import TreePage
from nodes.sim.cluster import SimCluster

SETTLE_NS = 120 * SECOND


class Groups:
    """A lab whose `finish` repairs everything and then judges the invariants."""

    def __init__(self, seed: int, groups: int = 2, standbys: int = 2, **settings: Any):
        self.config: ClusterConfig = many_groups(groups, standbys, **settings)
        self.cluster = SimCluster(self.config, seed)
        self.invariants = registry.start(self.config)
        self.cluster.on_event(self.invariants.on_event)
        self.ada = self.cluster.start_client("ada")
        self.eve = self.cluster.start_client("eve")
        self.calls: list[asyncio.Task[Any]] = []
        """Calls that a schedule began and that are under way."""
        self.settle()

    def settle(self) -> None:
        self.cluster.run_until(self.cluster.settled, SETTLE_NS)

    def servers(self, group: int) -> list[str]:
        return self.config.groups[group - 1].members

    def active(self, group: int) -> str:
        view = self.cluster.view()
        return next(name for name in self.servers(group) if view[name] in "AP")

    def pages(self) -> list[TreePage]:
        """The namespaces of every group's active."""
        return [
            msgspec.convert(
                self.cluster.ask(self.active(group.number), {"do": "tree"}), TreePage, strict=False
            )
            for group in self.config.groups
        ]

    def quiet(self) -> bool:
        """No operation is under way between the groups, and no record is left to be reclaimed."""
        return not any(page.open or page.orphans for page in self.pages())

    def mend(self) -> None:
        for held in list(self.cluster.net.holds):
            held.drop()
        for name, server in self.cluster.servers.items():
            if server.process == "stopped":
                self.cluster.faults.restart(name)
        self.cluster.faults.heal_all()

    def finish(self) -> None:
        """Raises AssertionError with the defects."""
        self.mend()
        self.cluster.run_for(SECOND)
        self.settle()
        self.cluster.run_until(self.quiet, SETTLE_NS)
        self.cluster.run_for(10 * SECOND)
        self.invariants.finish()
        failures = self.invariants.failures + self.invariants.unjudged
        assert not failures, failures[0].explanation
        found = fsck.faults(self.pages())
        assert not found, found[0]

    def all_returned(self) -> None:
        """Every call has ended, with a result or with a definite error."""
        self.cluster.run_until(lambda: all(call.done() for call in self.calls), SETTLE_NS)
        for call in self.calls:
            error = call.exception()
            assert error is None or (isinstance(error, FsError) and error.name != "ETIMEDOUT"), error
