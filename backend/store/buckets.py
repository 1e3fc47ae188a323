"""Calls of the workload, collected into buckets of several widths; besides the failed calls only these are kept."""

from __future__ import annotations

from backend.store.latencies import LatencyHistogram
from backend.store.tiers import BUCKET_NS, CALLS
from nodes.trace.events import Called

ANSWERS = (
    "ENOENT",
    "EEXIST",
    "ENOTDIR",
    "EISDIR",
    "ENOTEMPTY",
    "EBUSY",
    "EFBIG",
    "EINVAL",
    "EACCES",
    "ENAMETOOLONG",
)
"""Errors that are correct answers to an invalid request; every other error is a failed call."""
KEPT = 100
"""Number of buckets of each width kept in memory for calls that are reported late."""


def has_failed(call: Called) -> bool:
    return call.error != "" and call.error not in ANSWERS


class Bucket:
    """Calls that returned within `width_ns` from `at_ns` on."""

    __slots__ = ("at_ns", "failed", "latencies", "ok", "width_ns")

    def __init__(self, at_ns: int, width_ns: int = BUCKET_NS):
        self.at_ns = at_ns
        self.width_ns = width_ns
        self.ok = 0
        self.failed = 0
        self.latencies = LatencyHistogram()

    def add(self, call: Called) -> None:
        if has_failed(call):
            self.failed += 1
        else:
            self.ok += 1
        self.latencies.add(call.returned_ns - call.invoked_ns)

    def merge(self, other: Bucket) -> None:
        self.ok += other.ok
        self.failed += other.failed
        self.latencies.merge(other.latencies)


class Series:
    """The newest buckets of one width."""

    def __init__(self, width_ns: int) -> None:
        self.width_ns = width_ns
        self.recent: dict[int, Bucket] = {}
        self._changed: set[int] = set()

    def add(self, call: Called) -> None:
        at_ns = call.returned_ns - call.returned_ns % self.width_ns
        bucket = self.recent.get(at_ns)
        if bucket is None:
            bucket = self.recent[at_ns] = Bucket(at_ns, self.width_ns)
        bucket.add(call)
        self._changed.add(at_ns)

    def changed(self) -> list[Bucket]:
        changed = [self.recent[at_ns] for at_ns in sorted(self._changed)]
        self._changed.clear()
        for at_ns in sorted(self.recent)[:-KEPT]:
            del self.recent[at_ns]
        return changed


class Buckets:
    """Calls counted in buckets of every tier; `changed()` returns those that must be written again."""

    def __init__(self) -> None:
        self._series = [Series(tier.width_ns) for tier in CALLS]
        self.ok_total = 0
        self.failed_total = 0

    def add(self, call: Called) -> None:
        for series in self._series:
            series.add(call)
        if has_failed(call):
            self.failed_total += 1
        else:
            self.ok_total += 1

    def changed(self) -> list[Bucket]:
        return [bucket for series in self._series for bucket in series.changed()]

    def since(self, from_ns: int) -> Bucket:
        """The sum of the narrowest buckets that began at `from_ns` or later."""
        total = Bucket(from_ns)
        for at_ns, bucket in self._series[0].recent.items():
            if at_ns >= from_ns:
                total.merge(bucket)
        return total
