"""What waits to be written into the event store, within bounds."""

from __future__ import annotations

import msgspec

from backend.store.buckets import Bucket
from backend.store.encoding import Row

ROWS_MOST = 200_000
"""Number of events that wait for a disk that takes nothing; beyond it the oldest are left out."""
BUCKETS_MOST = 20_000
PICTURES_MOST = 500
FAILOVERS_MOST = 5_000

BucketKey = tuple[int, int]
"""(width_ns, at_ns)"""


class Pending(msgspec.Struct):
    rows: list[Row] = []
    moved: dict[str, int] = {}
    """By server: number of its newest event."""
    buckets: dict[BucketKey, Bucket] = {}
    pictures: list[tuple[int, int, int, bytes]] = []
    failovers: list[tuple[int, int, bytes]] = []
    left_out: int = 0
    """Number of events that were dropped because too many waited."""

    def __bool__(self) -> bool:
        return bool(self.rows or self.moved or self.buckets or self.pictures or self.failovers)

    def put_before(self, later: Pending) -> Pending:
        """This and what came later, within bounds."""
        both = Pending(
            self.rows + later.rows,
            self.moved | later.moved,
            self.buckets | later.buckets,
            self.pictures + later.pictures,
            self.failovers + later.failovers,
            self.left_out + later.left_out,
        )
        both.bound()
        return both

    def bound(self) -> None:
        """Drops the oldest of what is too much, a tenth more so that this is rare."""
        if len(self.rows) > ROWS_MOST:
            gone = len(self.rows) - ROWS_MOST * 9 // 10
            self.left_out += gone
            del self.rows[:gone]
        for _ in range(len(self.buckets) - BUCKETS_MOST):
            del self.buckets[next(iter(self.buckets))]
        del self.pictures[: max(0, len(self.pictures) - PICTURES_MOST)]
        del self.failovers[: max(0, len(self.failovers) - FAILOVERS_MOST)]
