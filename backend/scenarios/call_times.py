"""When calls returned, and when nothing returned although somebody waited: what a report plots."""

from __future__ import annotations

import msgspec

from backend.scenarios.outages import NOT_A_FAILURE
from nodes.trace.block_events import FileCalled
from nodes.trace.events import Called, Stamped

BUCKET_NS = 500_000_000
BUCKETS_MAX = 600
OUTAGE_NS = 500_000_000
"""Shortest time without a success, while a call waits, that is drawn as an outage."""
OUTAGES_MAX = 200


class CallCurve(msgspec.Struct):
    """Calls by the time in which they returned, counted from the start of the workload."""

    bucket_ns: int
    ok: list[int]
    failed: list[int]
    outages: list[tuple[int, int]]
    """Begin and end of the times without a success, in ns; the longest ones when there are many."""


class CallTimes:
    """Reducer of events."""

    def __init__(self) -> None:
        self._returned: list[tuple[int, bool]] = []
        self._outages: list[tuple[int, int]] = []
        self._last_ns = 0

    def on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        if type(event) is FileCalled:
            self._returned.append((stamped.at_ns, event.error not in NOT_A_FAILURE))
        elif type(event) is Called:
            failed = event.error not in NOT_A_FAILURE
            self._returned.append((stamped.at_ns, failed))
            if not failed:
                self._succeeded(event.invoked_ns, event.returned_ns)

    def _succeeded(self, invoked_ns: int, returned_ns: int) -> None:
        waited_from = max(self._last_ns, invoked_ns)
        if returned_ns - waited_from >= OUTAGE_NS:
            self._outages.append((waited_from, returned_ns))
        self._last_ns = max(self._last_ns, returned_ns)

    def curve(self, began_ns: int, ended_ns: int) -> CallCurve:
        """Buckets of half a second, or longer ones in a long run."""
        span_ns = max(1, ended_ns - began_ns)
        bucket_ns = BUCKET_NS * -(-span_ns // (BUCKET_NS * BUCKETS_MAX))
        count = -(-span_ns // bucket_ns)
        ok, failed = [0] * count, [0] * count
        for at_ns, wrong in self._returned:
            place = (at_ns - began_ns) // bucket_ns
            if 0 <= place < count:
                (failed if wrong else ok)[place] += 1
        longest = sorted(self._outages, key=lambda span: span[0] - span[1])[:OUTAGES_MAX]
        outages = sorted((begin - began_ns, end - began_ns) for begin, end in longest)
        return CallCurve(bucket_ns, ok, failed, outages)
