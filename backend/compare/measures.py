"""What one configuration did in a comparison: calls over time, messages and log writes per operation, failovers, checks.

Fed with the events of a simulated run and with everything that its network carried.
"""

from __future__ import annotations

from typing import Any

import msgspec

from backend.events.failovers import Failover, Failovers
from backend.scenarios.outages import Outages
from backend.store.buckets import has_failed
from backend.store.latencies import Latencies
from nodes.trace.events import Called, FaultInjected, Stamped

BUCKET_NS = 500_000_000
FAULTS_KEPT = 200


class Kind(msgspec.Struct):
    """Messages of one kind between servers, or between servers and clients."""

    count: int = 0
    octets: int = 0


class Curve(msgspec.Struct):
    """Calls by the half second in which they returned, from the workload's begin on."""

    bucket_ns: int
    ok: list[int]
    failed: list[int]
    p50_ms: list[float | None]
    p99_ms: list[float | None]


class Measured(msgspec.Struct):
    """Per operation means per call that the workload made, whatever came of it."""

    calls: int
    failed_calls: int
    seconds: float
    longest_outage_ms: float
    p50_ms: float | None
    p99_ms: float | None
    messages: dict[str, Kind]
    messages_per_call: float
    octets_per_call: float
    log_writes: int
    """Synced writes of journals, on all servers."""
    log_writes_per_call: float
    curve: Curve
    faults: list[tuple[int, str]]
    """(ns since the workload began, what)."""
    failovers: list[Failover]
    """With `fault_ns` since the workload began."""
    lamps: list[dict[str, Any]]


class Measures:
    """Gathers; `measured` tells."""

    def __init__(self) -> None:
        self._outages = Outages()
        self._failovers: list[Failover] = []
        self._splits = Failovers(lambda _, split: self._failovers.append(split))
        self._calls: list[tuple[int, int, bool]] = []
        """(returned, took, failed), in ns."""
        self._faults: list[tuple[int, str]] = []
        self._kinds: dict[str, Kind] = {}
        self._latencies = Latencies()

    def on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        self._outages.on_event(stamped)
        self._splits.on_event(stamped)
        if isinstance(event, Called) and event.returned_ns:
            took = event.returned_ns - event.invoked_ns
            self._calls.append((event.returned_ns, took, has_failed(event)))
            self._latencies.add(took)
        elif isinstance(event, FaultInjected) and len(self._faults) < FAULTS_KEPT:
            self._faults.append((stamped.at_ns, f"{event.verb} {' '.join(event.targets)}"))

    def on_message(self, kind: str, octets: int) -> None:
        known = self._kinds.setdefault(kind, Kind())
        known.count += 1
        known.octets += octets

    def curve(self, began_ns: int, ended_ns: int) -> Curve:
        count = max(1, -(-(ended_ns - began_ns) // BUCKET_NS))
        ok, failed = [0] * count, [0] * count
        latencies = [Latencies() for _ in range(count)]
        for returned_ns, took, wrong in self._calls:
            place = (returned_ns - began_ns) // BUCKET_NS
            if 0 <= place < count:
                (failed if wrong else ok)[place] += 1
                latencies[place].add(took)
        return Curve(
            BUCKET_NS,
            ok,
            failed,
            [each.quantile_ms(0.5) for each in latencies],
            [each.quantile_ms(0.99) for each in latencies],
        )

    def measured(
        self, began_ns: int, ended_ns: int, log_writes: int, lamps: list[dict[str, Any]]
    ) -> Measured:
        calls = max(1, self._outages.calls)
        messages = sum(kind.count for kind in self._kinds.values())
        octets = sum(kind.octets for kind in self._kinds.values())
        return Measured(
            self._outages.calls,
            self._outages.failed,
            (ended_ns - began_ns) / 1e9,
            self._outages.longest_ns / 1e6,
            self._latencies.quantile_ms(0.5),
            self._latencies.quantile_ms(0.99),
            dict(sorted(self._kinds.items(), key=lambda item: -item[1].count)),
            round(messages / calls, 3),
            round(octets / calls, 1),
            log_writes,
            round(log_writes / calls, 3),
            self.curve(began_ns, ended_ns),
            [(at_ns - began_ns, what) for at_ns, what in self._faults],
            [msgspec.structs.replace(split, fault_ns=split.fault_ns - began_ns) for split in self._failovers],
            lamps,
        )
