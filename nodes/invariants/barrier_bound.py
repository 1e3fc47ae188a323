"""exactly up to the barrier: a complete checkpoint splits no operation, and a recovery ends exactly at its barrier (safety rules 13 and 14)."""

from __future__ import annotations

from typing import Any

from nodes.invariants.checker import Check, place_in_trace
from nodes.trace.checkpoints import BarrierWritten, CheckpointOutcome, TakenBack
from nodes.trace.events import Committed, SharedStep, Stamped

OPERATIONS_KEPT = 50_000
CHECKPOINTS_COMPARED = 16
"""Number of newest checkpoints with which an operation is compared."""
DECISIONS = ("decide", "vote", "outcome")

Key = tuple[int, int, int]
"""Incarnation, coordinator's group, number of the operation."""


class UpToBarrier(Check):
    """Barriers and operations of the whole cluster, over all its incarnations."""

    name = "exactly up to the barrier"
    meaning = "a complete checkpoint splits no operation, and after a global recovery every replica ends at the barrier, with its blocks"
    counts = "checkpoints, and replicas at a barrier"

    def __init__(self, names: dict[int, str]) -> None:
        super().__init__()
        self.always = False
        self._names = names
        """Group names by number."""
        self.steps = {
            BarrierWritten: self._on_written,
            CheckpointOutcome: self._on_outcome,
            Committed: self._on_committed,
            SharedStep: self._on_shared,
            TakenBack: self._on_taken_back,
        }
        self._written: dict[tuple[str, str], Stamped] = {}
        self._complete: dict[str, tuple[int, dict[str, int]]] = {}
        """Checkpoint to its incarnation and the sn of its barriers."""
        self._incarnations: dict[str, int] = {}
        """Incarnation of each server that has ever rolled back."""
        self._committed: dict[str, int] = {}
        """The last sn that each server committed."""
        self._operations: dict[Key, dict[str, int]] = {}
        """For each operation, the sn at which each group decided to commit it."""
        self._bases: dict[tuple[str, int], int] = {}
        """By group and incarnation: the sn behind which it must continue. Servers that copied earlier groups may report them again."""
        self._reached: set[tuple[str, int]] = set()
        """By group and incarnation: some server has rolled back to the barrier."""
        self._lacking: dict[tuple[str, int], Stamped] = {}
        """Groups in which only servers without the checkpoint have rolled back."""

    # --- marking ----------------------------------------------------------------------------------------------

    def _on_written(self, stamped: Stamped, event: BarrierWritten) -> None:
        self._written[event.group, event.name] = stamped

    def _on_outcome(self, stamped: Stamped, event: CheckpointOutcome) -> None:
        if event.outcome != "complete":
            return
        self._complete[event.name] = (self._incarnations.get(stamped.server, 0), event.barriers)
        if len(self._complete) > CHECKPOINTS_COMPARED:
            del self._complete[next(iter(self._complete))]
        self.checked += 1
        for key in self._operations:
            self._compare(key, event.name, place_in_trace(stamped))

    def _on_committed(self, stamped: Stamped, event: Committed) -> None:
        self._committed[stamped.server] = event.sn
        key = (event.group, self._incarnations.get(stamped.server, 0))
        base = self._bases.get(key)
        if base is None or event.sn <= base:
            return
        del self._bases[key]
        if event.sn != base + 1:
            self.fail(
                f"{event.group} was taken back to group {base} and goes on with group {event.sn}",
                place_in_trace(stamped),
            )
        self.checked += 1

    def _on_shared(self, stamped: Stamped, event: SharedStep) -> None:
        if event.step not in DECISIONS or not event.commit:
            return
        incarnation = self._incarnations.get(stamped.server, 0)
        key = (incarnation, event.coordinator, event.seq)
        where = self._operations.setdefault(key, {})
        where.setdefault(event.group, self._committed.get(stamped.server, 0))
        if len(self._operations) > OPERATIONS_KEPT:
            del self._operations[next(iter(self._operations))]
        for name in self._complete:
            self._compare(key, name, place_in_trace(stamped))

    def _compare(self, key: Key, name: str, evidence: tuple[str, int]) -> None:
        """An operation must be before the barrier in all of its groups or in none."""
        incarnation, barriers = self._complete[name]
        where = self._operations[key]
        before = [group for group, sn in where.items() if sn <= barriers.get(group, 0)]
        if key[0] != incarnation or not before or len(before) == len(where):
            return
        behind = [group for group in where if group not in before]
        self.fail(
            f"checkpoint {name} splits operation {key[2]} of {self._names.get(key[1], key[1])}: it is before the barrier of "
            f"{', '.join(before)} and behind that of {', '.join(behind)}",
            evidence,
        )

    # --- recovery ---------------------------------------------------------------------------------------------

    def _on_taken_back(self, stamped: Stamped, event: TakenBack) -> None:
        self._incarnations[stamped.server] = event.incarnation
        key = (event.group, event.incarnation)
        if not event.sn:
            if key not in self._reached:
                self._lacking.setdefault(key, stamped)
            return
        self._lacking.pop(key, None)
        if key not in self._reached:
            self._reached.add(key)
            self._bases[key] = event.next_sn - 1 if event.next_sn else event.sn
        written = self._written.get((event.group, event.checkpoint))
        if written is not None:
            self._must_equal(stamped, event, written)

    def _must_equal(self, stamped: Stamped, event: TakenBack, written: Stamped) -> None:
        barrier: Any = written.event
        self.checked += 1
        found = (event.sn, event.crc, event.digest)
        if found != (barrier.sn, barrier.crc, barrier.digest):
            self.fail(
                f"{stamped.server} was taken back to checkpoint {event.checkpoint} and is at group {event.sn} with digest "
                f"{event.digest:016x}; the barrier is group {barrier.sn} with digest {barrier.digest:016x}",
                place_in_trace(written),
                place_in_trace(stamped),
            )

    def finish(self) -> None:
        for (group, _), stamped in self._lacking.items():
            event: Any = stamped.event
            self.fail(
                f"no server of {group} has checkpoint {event.checkpoint} any more: {stamped.server} begins empty",
                place_in_trace(stamped),
            )
        self._lacking.clear()
