"""The invariants, checked live on every event of the cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.config import ClusterConfig
from nodes.invariants import registry
from nodes.trace.events import CheckFailed, Stamped


class Checks:
    """`tell` is given the first failure of each invariant as an event."""

    def __init__(self, cluster: ClusterConfig, tell: Callable[[CheckFailed], None]):
        self._lamps = registry.start(cluster)
        self._tell = tell
        self._told: set[str] = set()

    def on_events(self, events: list[Stamped]) -> None:
        for stamped in events:
            self._lamps.on_event(stamped)

    def lamps(self) -> list[dict[str, Any]]:
        return list(self._lamps.lamps())
