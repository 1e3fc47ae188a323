"""The journal writer of whoever leads a group (CFS §4.1.2, Fig. 4b, coordinator's side; double buffer of §4.4).

One group is in flight and fills the next. Where a group goes, and when it is safe there, is the affair of the slot `journal_sync`; only when it
is, anybody is answered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.metadata_server.shared_steps import Commits
from nodes.replicas.log import ReplicaLog, encode_group
from nodes.replicas.state import ReplicatedState
from nodes.slots import JournalSync
from nodes.trace.present import UNKNOWN
from nodes.wire.messages import JournalGroup
from nodes.world import World

Answering = Callable[[], None]

RECORDS_MAX = 1_024
"""Of an open group: with paths as long as they may be it still fits into one record of the journal."""


class JournalWriter:
    """Gives groups their sn, hands them on to be synced, tells when they are committed."""

    def __init__(
        self,
        world: World,
        commits: Commits,
        epoch: int,
        incarnation: int,
        log: ReplicaLog,
        state: ReplicatedState,
        sync: JournalSync,
        records_max: int = 0,
    ):
        """`records_max`: of a group; 0 is what is built in."""
        self._world = world
        self._commits = commits
        self._records_max = records_max or RECORDS_MAX
        self.epoch = epoch
        self._incarnation = incarnation
        self._log = log
        self._state = state
        self._sync = sync
        sync.on_progress = self.count
        self.groupid = 0
        self._records: list[Any] = []
        self._undo: list[Any] = []
        self._begun_by = UNKNOWN
        """What led to the first record of the open group: not to the end of the group before it, for which it waits."""
        self._answers: list[Answering] = []
        self._closed: list[tuple[int, list[Answering]]] = []
        """Answers that wait for a sn, in order."""
        self._in_flight: JournalGroup | None = None
        self._closed_at_ns = 0
        self.flushes = 0
        self.flushing_ns = 0
        """Of all groups that became safe: from their closing on, in sum."""
        self._flush_wanted = False
        self._over = False
        self.parked = False
        """Too few are there to commit anything: what is ahead of commit has been taken back, reads go on (safety rule 19)."""
        self.parked_at_ns = 0
        """While parked: later than every record that is in the namespace, earlier than every one that was taken back; 0 when none was."""
        self.on_unparked: Callable[[], None] = lambda: None
        self._told_commit_sn = 0
        self._last_place = 0

    # --- intake ------------------------------------------------------------------------------------------------

    @property
    def idle(self) -> bool:
        """Nothing is ahead of commit."""
        return self._in_flight is None and not self._records

    @property
    def full(self) -> bool:
        """The open group takes no more calls; `on_unparked` tells when the next one does."""
        return len(self._records) >= self._records_max

    @property
    def open_sn(self) -> int:
        """The sn that a read of the present namespace has seen the last of."""
        if self.parked:
            return self._state.commit_sn
        return self._log.last.sn + 1 if self._records else self._log.last.sn

    @property
    def open_place(self) -> int:
        if self.parked:
            return self._last_place
        if self._records:
            return len(self._records)
        return len(self._in_flight.records) if self._in_flight else self._last_place

    @property
    def next_place(self) -> tuple[int, int]:
        """The sn and the place in its group that the next record is given."""
        return self._log.last.sn + 1, len(self._records) + 1

    def record(self, record: Any, undo: list[Any]) -> tuple[int, int]:
        """Takes a record that the namespace has already applied; returns its sn and its place in the group."""
        if not self._records:
            self._begun_by = self._world.trace.at()
        self._records.append(record)
        self._undo.extend(undo)
        if self._in_flight is None:
            self.flush_when_idle()
        return self._log.last.sn + 1, len(self._records)

    def apply(self, record: Any) -> tuple[int, int]:
        """Applies a record to the namespace and takes it; returns its sn and its place in the group."""
        undo: list[Any] = []
        self._state.namespace.apply(record, undo)
        return self.record(record, undo)

    def after_commit(self, answer: Answering) -> None:
        """Runs `answer` once nothing that the namespace shows now can be lost any more."""
        if self._records:
            self._answers.append(answer)
        elif self._in_flight is not None:
            self._closed[-1][1].append(answer)
        else:
            answer()

    def after_executed(self, answer: Answering) -> None:
        """Nobody but this server answers reads."""
        self.after_commit(answer)

    def flush_when_idle(self) -> None:
        if not self._flush_wanted:
            self._flush_wanted = True
            self._world.when_idle(self._flush)

    def _flush(self) -> None:
        self._flush_wanted = False
        if self._in_flight is not None or self.parked or self._over:
            return
        if self._records:
            self.close_group()
        elif self._told_commit_sn < self._state.commit_sn:
            self._tell_commit()

    def _tell_commit(self) -> None:
        self._told_commit_sn = self._state.commit_sn
        self._sync.tell_commit(self._state.commit_sn)

    # --- a group -----------------------------------------------------------------------------------------------

    def close_group(self) -> None:
        """bufCurrent becomes bufFlush: gives the next sn and hands the group on. May be empty."""
        if self._records:
            self._world.trace.follows(self._begun_by)
        was_full = self.full
        self.groupid += 1
        previous = self._log.last
        commit_sn = self._state.commit_sn
        group = JournalGroup(
            previous.sn + 1, self.groupid, self.epoch, self._incarnation, previous, commit_sn,
            self._world.clock.wall_ns(), self._records,
        )  # fmt: skip
        octets, mark = encode_group(group)
        self._in_flight = group
        self._closed_at_ns = self._world.clock.monotonic_ns()
        self._closed.append((group.sn, self._answers))
        self._state.applied_ahead(group, self._undo)
        self._records, self._undo, self._answers = [], [], []
        self._told_commit_sn = commit_sn
        self._sync.write(group, octets, mark)
        if was_full:
            self.on_unparked()

    # --- too few ---------------------------------------------------------------------------------------------------

    def _park(self) -> None:
        """Brings the namespace back to what is committed; the groups stay in the journal and in flight."""
        self.parked = True
        waiting = [record for group in self._state.ahead() for record in group.records] + self._records
        self.parked_at_ns = min((record.at_ns for record in waiting), default=1) - 1
        self._state.step_back(self._undo)

    def _unpark(self) -> None:
        self.parked = False
        self._state.apply_ahead()
        for record in self._records:
            self._state.namespace.apply(record, self._undo)
        self.flush_when_idle()
        self.on_unparked()

    # --- safe ----------------------------------------------------------------------------------------------------

    def count(self) -> None:
        """More of the journal may have become safe; after the end that concerns nobody here."""
        if self._over:
            return
        if self.parked and not self._sync.lacks_quorum:
            self._unpark()
        group = self._in_flight
        if group is None or not self._sync.safe(group.sn):
            return
        self._in_flight = None
        self.flushes += 1
        self.flushing_ns += self._world.clock.monotonic_ns() - self._closed_at_ns
        self._last_place = len(group.records)
        for ahead in self._state.ahead():
            self.tell_committed(ahead)
        self._state.commit(group.sn)
        while self._closed and self._closed[0][0] <= group.sn:
            for answer in self._closed.pop(0)[1]:
                answer()
        self.flush_when_idle()

    def tell_committed(self, group: JournalGroup) -> None:
        """A group of this tenure, or one that the elected adopted and has now recommitted."""
        mark = self._log.mark_at(group.sn)
        assert mark is not None
        holders, number = self._sync.holders(group.sn), self._sync.configuration_number
        self._commits.emit(group, self.epoch, mark.crc, holders, number)

    # --- time --------------------------------------------------------------------------------------------------

    def on_tick(self) -> None:
        """Reads go on when nothing can be committed for now."""
        if not self.parked and not self.idle and self._sync.lacks_quorum:
            self._park()
        self.count()

    def end(self) -> list[Any]:
        """The tenure is over: nobody is answered; returns what undoes the records of no group."""
        self._over = True
        self._answers.clear()
        self._closed.clear()
        return self._undo
