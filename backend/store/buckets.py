"""Calls of the workload, collected into tenths of a second; besides the failed calls only these buckets are kept."""

from __future__ import annotations

from backend.store.latencies import Latencies
from nodes.trace.events import Called

BUCKET_NS = 100_000_000
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
"""Number of buckets kept in memory for calls that are reported late."""


def has_failed(call: Called) -> bool:
    return call.error != "" and call.error not in ANSWERS


class Bucket:
    __slots__ = ("at_ns", "failed", "latencies", "ok")

    def __init__(self, at_ns: int):
        self.at_ns = at_ns
        self.ok = 0
        self.failed = 0
        self.latencies = Latencies()

    def add(self, call: Called) -> None:
        if has_failed(call):
            self.failed += 1
        else:
            self.ok += 1
        self.latencies.add(call.returned_ns - call.invoked_ns)


class Buckets:
    """The newest buckets; `changed()` returns those that must be written again."""

    def __init__(self) -> None:
        self._recent: dict[int, Bucket] = {}
        self._changed: set[int] = set()
        self.ok_total = 0
        self.failed_total = 0

    def add(self, call: Called) -> None:
        at_ns = call.returned_ns - call.returned_ns % BUCKET_NS
        bucket = self._recent.get(at_ns)
        if bucket is None:
            bucket = self._recent[at_ns] = Bucket(at_ns)
        bucket.add(call)
        self._changed.add(at_ns)
        if has_failed(call):
            self.failed_total += 1
        else:
            self.ok_total += 1

    def changed(self) -> list[Bucket]:
        changed = [self._recent[at_ns] for at_ns in sorted(self._changed)]
        self._changed.clear()
        for at_ns in sorted(self._recent)[:-KEPT]:
            del self._recent[at_ns]
        return changed

    def since(self, from_ns: int) -> Bucket:
        """The sum of the buckets that began at `from_ns` or later."""
        total = Bucket(from_ns)
        for at_ns, bucket in self._recent.items():
            if at_ns >= from_ns:
                total.ok += bucket.ok
                total.failed += bucket.failed
                total.latencies.merge(bucket.latencies)
        return total
