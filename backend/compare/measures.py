"""Results of one configuration in a comparison: calls over time, messages and log writes per operation, failovers, invariants.

The measures are fed with the events of a simulated run and with all messages of its network.
"""

from __future__ import annotations

from typing import Any

import msgspec

from backend.events.failovers import SESSION_NS, Failover, Failovers
from backend.scenarios.outages import Outages
from backend.store.buckets import has_failed
from backend.store.latencies import LatencyHistogram
from nodes.trace.events import Called, FaultInjected, Stamped

BUCKET_NS = 500_000_000
FAULTS_KEPT = 200


class Kind(msgspec.Struct):
    """Messages of one kind between servers, or between servers and clients."""

    count: int = 0
    size: int = 0


class Curve(msgspec.Struct):
    """Calls by the half second in which they returned, counted from the start of the workload."""

    bucket_ns: int
    ok: list[int]
    failed: list[int]
    p50_ms: list[float | None]
    p99_ms: list[float | None]


class Measured(msgspec.Struct):
    """Results of one run. `Per operation` means per call of the workload, whatever its outcome."""

    calls: int
    failed_calls: int
    seconds: float
    longest_outage_ms: float
    p50_ms: float | None
    p99_ms: float | None
    messages: dict[str, Kind]
    messages_per_call: float
    bytes_per_call: float
    log_writes: int
    """Synced writes of journals, on all servers."""
    log_writes_per_call: float
    curve: Curve
    faults: list[tuple[int, str, list[str]]]
    """(ns since the workload began, verb, targets)."""
    failovers: list[Failover]
    """Failovers; `fault_ns` counts from the start of the workload."""
    invariants: list[dict[str, Any]]


class Measures:
    """Collects events and messages; `measured` returns the results."""

    def __init__(self, session_ns: int = SESSION_NS) -> None:
        self._outages = Outages()
        self._failovers: list[Failover] = []
        self._splits = Failovers(lambda _, split: self._failovers.append(split), session_ns)
        self._calls: list[tuple[int, int, bool]] = []
        """(returned, took, failed), in ns."""
        self._faults: list[tuple[int, str, list[str]]] = []
        self._kinds: dict[str, Kind] = {}
        self._latencies = LatencyHistogram()

    def on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        self._outages.on_event(stamped)
        self._splits.on_event(stamped)
        if isinstance(event, Called) and event.returned_ns:
            took = event.returned_ns - event.invoked_ns
            self._calls.append((event.returned_ns, took, has_failed(event)))
            self._latencies.add(took)
        elif isinstance(event, FaultInjected) and len(self._faults) < FAULTS_KEPT:
            self._faults.append((stamped.at_ns, event.verb, event.targets))

    def on_message(self, kind: str, size: int) -> None:
        known = self._kinds.setdefault(kind, Kind())
        known.count += 1
        known.size += size

    def curve(self, began_ns: int, ended_ns: int) -> Curve:
        count = max(1, -(-(ended_ns - began_ns) // BUCKET_NS))
        ok, failed = [0] * count, [0] * count
        latencies = [LatencyHistogram() for _ in range(count)]
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
        self, began_ns: int, ended_ns: int, log_writes: int, invariants: list[dict[str, Any]]
    ) -> Measured:
        calls = max(1, self._outages.calls)
        messages = sum(kind.count for kind in self._kinds.values())
        size = sum(kind.size for kind in self._kinds.values())
        return Measured(
            self._outages.calls,
            self._outages.failed,
            (ended_ns - began_ns) / 1e9,
            self._outages.longest_ns / 1e6,
            self._latencies.quantile_ms(0.5),
            self._latencies.quantile_ms(0.99),
            dict(sorted(self._kinds.items(), key=lambda item: -item[1].count)),
            round(messages / calls, 3),
            round(size / calls, 1),
            log_writes,
            round(log_writes / calls, 3),
            self.curve(began_ns, ended_ns),
            [(at_ns - began_ns, verb, targets) for at_ns, verb, targets in self._faults],
            [msgspec.structs.replace(split, fault_ns=split.fault_ns - began_ns) for split in self._failovers],
            invariants,
        )
