"""The history of a group whose journal is never cut: a rollback is one of its records (safety rule 14).

The state at such a record is that of its barrier. The part between them stays in the journal, and no state after the record depends on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from nodes.listeners import Listeners
from nodes.metadata.namespace import Namespace
from nodes.metadata.records import IncarnationRecord, call_of, rollback_in
from nodes.metadata_server.checkpoints.incarnation import aside
from nodes.replicas.journal_quarantine import copy_groups_aside
from nodes.replicas.log import decode_group
from nodes.slots import GroupLog, ImageStore
from nodes.trace.checkpoints import TakenBack
from nodes.wake import Wake
from nodes.wire.messages import Mark
from nodes.world import World

COUNTED_AT_ONCE = 256


class Rollback(NamedTuple):
    """A rollback in the journal here."""

    sn: int
    record: IncarnationRecord


class JournalHistory:
    """The states that image and journal of one server lead to."""

    def __init__(
        self, world: World, group: str, images: ImageStore, log: GroupLog, empty: Callable[[], Namespace]
    ):
        """`empty` makes the namespace before the first group."""
        self._world = world
        self._group = group
        self._images = images
        self._log = log
        self._empty = empty
        self._copy = Wake()
        self._copied: set[int] = set()
        """Incarnations whose beginning set nothing aside that is not copied."""
        self.on_rolled_back: Listeners[()] = Listeners()
        """Called when a rollback has been applied here."""

    # --- rollbacks -------------------------------------------------------------------------------------------------

    def rollbacks(self) -> list[Rollback]:
        """Those in the journal here, ascending. Raises OSError."""
        found: list[Rollback] = []
        for sn in self._log.incarnation_starts():
            group = self._log.group_at(sn)
            record = None if group is None else rollback_in(group.records)
            if record is not None:
                found.append(Rollback(sn, record))
        return found

    def _last_rollback(self, sn: int) -> Rollback | None:
        """The rollback on which the state at sn depends."""
        return next((each for each in reversed(self.rollbacks()) if each.sn <= sn), None)

    def live(self, after_sn: int, last_sn: int) -> list[tuple[int, int]]:
        """Ranges of the groups behind `after_sn` on which the state at `last_sn` depends, ascending. Raises OSError."""
        ranges: list[tuple[int, int]] = []
        while last_sn > after_sn:
            before = self._last_rollback(last_sn)
            ranges.append((max(after_sn + 1, before.sn if before else 0), last_sn))
            last_sn = 0 if before is None or before.sn <= after_sn else before.record.barrier_sn
        return ranges[::-1]

    # --- states ----------------------------------------------------------------------------------------------------

    def state_at(self, sn: int) -> Namespace | None:
        """The namespace at a group of the journal; None when images and journal here do not lead to it. Raises OSError."""
        log = self._log
        if log.mark_at(sn) is None:
            return None
        before = self._last_rollback(sn)
        stored = self._images.newest(lambda mark: self._leads_to(mark, sn, before))
        if stored is not None:
            namespace, first_sn = stored[0], stored[1].sn
        elif before is not None:
            restored = self._at_barrier(before.record)
            if restored is None:
                return None
            namespace, first_sn = restored, before.sn - 1
        elif log.base.sn:
            return None
        else:
            namespace, first_sn = self._empty(), 0
        for data in log.encoded(first_sn + 1, sn):
            for record in decode_group(data).records:
                namespace.apply(record)
        return namespace

    def _leads_to(self, mark: Mark, sn: int, before: Rollback | None) -> bool:
        """Whether an image is on the way to the state at sn: not older than the rollback `before` it, and not beyond it."""
        return (before.sn if before else 0) <= mark.sn <= sn and self._log.holds(mark)

    def _at_barrier(self, record: IncarnationRecord) -> Namespace | None:
        mark = self._log.mark_at(record.barrier_sn)
        return self.state_at(mark.sn) if mark is not None and mark.crc == record.barrier_crc else None

    async def leads_to(self, sn: int) -> bool:
        """Whether every byte is here that the state at a group of the journal needs. Raises OSError."""
        before = self._last_rollback(sn)
        if await self._images.has_whole(lambda mark: self._leads_to(mark, sn, before)):
            return True
        if before is not None:
            return self._log.mark_at(before.record.barrier_sn) is not None and await self.leads_to(
                before.record.barrier_sn
            )
        return not self._log.base.sn

    def restore(self, sn: int, epoch: int, record: IncarnationRecord) -> Namespace | None:
        """`Restore` of nodes/replicas/state.py. Raises OSError."""
        namespace = self._at_barrier(record)
        if namespace is not None:
            counted = self._count(record.barrier_sn, sn - 1)
            self._report(sn, epoch, record, namespace.digest, *counted)
            self._copy.set()
            self.on_rolled_back()
        return namespace

    def _report(
        self, sn: int, epoch: int, record: IncarnationRecord, digest: int, groups: int, operations: int
    ) -> None:
        self._world.trace.emit(
            TakenBack(
                self._group, record.number, record.checkpoint, epoch, record.barrier_sn, record.barrier_crc, digest, groups, operations, sn + 1,
            )
        )  # fmt: skip

    def passed_over(self, mark: Mark, incarnation: int, checkpoint: str) -> None:
        """Reports that this server begins from an image of a later incarnation, and restores no barrier itself."""
        self._world.trace.emit(
            TakenBack(self._group, incarnation, checkpoint, mark.epoch, 0, 0, 0, 0, 0, mark.sn + 1)
        )
        self.on_rolled_back()

    # --- what was set aside ----------------------------------------------------------------------------------------

    def _count(self, after_sn: int, last_sn: int) -> tuple[int, int]:
        """Groups and operations behind `after_sn` that the state at `last_sn` includes."""
        groups = operations = 0
        for first, last in self.live(after_sn, last_sn):
            for sn in range(first, last + 1, COUNTED_AT_ONCE):
                found = self._log.encoded(sn, min(last, sn + COUNTED_AT_ONCE - 1))
                groups += len(found)
                operations += sum(operations_in(data) for data in found)
        return groups, operations

    def uncopied_sn(self) -> int:
        """The sn behind which the journal is needed until all that was set aside is copied. Raises OSError."""
        return min((each.record.barrier_sn for each in self._uncopied()), default=self._log.last.sn)

    def _uncopied(self) -> list[Rollback]:
        return [each for each in self.rollbacks() if each.record.number not in self._copied]

    async def keep_set_aside(self) -> None:
        """Copies what rollbacks set aside under `aside/`, without end: pruning removes it from the journal. Raises OSError."""
        while True:
            for sn, record in self._uncopied():
                directory = aside(record.number)
                await copy_groups_aside(self._world, self._log, record.barrier_sn, sn - 1, directory)
                self._copied.add(record.number)
            await self._copy.wait()


def operations_in(data: bytes) -> int:
    """Number of client operations in an encoded group."""
    return sum(call_of(record) != ("", 0) for record in decode_group(data).records)
