"""The invariants, checked on every event of the running cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.config import ClusterConfig
from nodes.invariants import registry
from nodes.trace.events import CheckFailed, Stamped


class Checks:
    """The live checks; `report` receives the first failure of each invariant as an event."""

    def __init__(self, cluster: ClusterConfig, report: Callable[[CheckFailed], None]):
        self._invariants = registry.start(cluster)
        self._report = report
        self._reported: set[str] = set()

    def on_events(self, events: list[Stamped]) -> None:
        for stamped in events:
            self._invariants.on_event(stamped)

    def invariants(self) -> list[dict[str, Any]]:
        return list(self._invariants.invariants())
