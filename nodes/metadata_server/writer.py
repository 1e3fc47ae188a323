"""The journal writer of a group's leader (CFS §4.1.2, Fig. 4b, coordinator's side; double buffer of §4.4).

One group is in flight while the next fills. The slot `journal_sync` decides where a group is written and when it is safe there; answers are sent
only then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.metadata.records import IncarnationRecord
from nodes.metadata_server.shared_steps import CommitEmitter
from nodes.replicas.log import ReplicaLog, encode_group
from nodes.replicas.state import ReplicatedState
from nodes.slots import JournalSync
from nodes.trace.present import UNKNOWN
from nodes.wire.messages import JournalGroup
from nodes.world import World

RequestHandler = Callable[[], None]

RECORDS_MAX = 1_024
"""Largest number of records of an open group. With the longest possible paths the group still fits into one record of the journal."""


class JournalWriter:
    """Numbers groups with their sn, hands them on to be synced and reports when they are committed."""

    def __init__(
        self,
        world: World,
        commits: CommitEmitter,
        epoch: int,
        incarnation: int,
        log: ReplicaLog,
        state: ReplicatedState,
        sync: JournalSync,
        on_resumed: Callable[[], None],
        records_max: int = 0,
    ):
        """`on_resumed` is called when the writer is no longer stalled, or no longer full.

        `records_max`: largest number of records of a group; 0 selects the built-in limit.
        """
        self._world = world
        self._commits = commits
        self._records_max = records_max or RECORDS_MAX
        self.epoch = epoch
        self._incarnation = incarnation
        self._log = log
        self._state = state
        self._sync = sync
        sync.on_progress.subscribe(self.count)
        self.groupid = 0
        self._records: list[Any] = []
        self._undo: list[Any] = []
        self._begun_by = UNKNOWN
        """The cause of the first record of the open group. The end of the previous group, for which it waits, is not the cause."""
        self._answers: list[RequestHandler] = []
        self._closed: list[tuple[int, list[RequestHandler]]] = []
        """Answers that wait for a sn, in order."""
        self._in_flight: JournalGroup | None = None
        self._closed_at_ns = 0
        self.flushes = 0
        self.flushing_ns = 0
        """Sum over all groups that became safe of the time from their closing until then."""
        self._flush_wanted = False
        self._over = False
        self.stalled = False
        """Too few replicas are there to commit. Changes ahead of commit have been undone; reads continue (safety rule 19)."""
        self.stalled_at_ns = 0
        """While stalled: a time later than every record in the namespace and earlier than every one that was undone; 0 when none was."""
        self._on_unparked = on_resumed
        self._reported_commit_sn = 0
        self._last_place = 0

    # --- admission ---------------------------------------------------------------------------------------------

    @property
    def idle(self) -> bool:
        """Nothing is ahead of commit."""
        return self._in_flight is None and not self._records

    @property
    def full(self) -> bool:
        """The open group takes no more calls."""
        return len(self._records) >= self._records_max

    @property
    def open_sn(self) -> int:
        """The sn of the last group that a read of the present namespace sees."""
        if self.stalled:
            return self._state.commit_sn
        return self._log.last.sn + 1 if self._records else self._log.last.sn

    @property
    def open_place(self) -> int:
        if self.stalled:
            return self._last_place
        if self._records:
            return len(self._records)
        return len(self._in_flight.records) if self._in_flight else self._last_place

    @property
    def next_place(self) -> tuple[int, int]:
        """The sn of the next record, and its place in the group."""
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

    def after_commit(self, answer: RequestHandler) -> None:
        """Runs `answer` once no state that the namespace shows now can be lost."""
        if self._records:
            self._answers.append(answer)
        elif self._in_flight is not None:
            self._closed[-1][1].append(answer)
        else:
            answer()

    def after_executed(self, answer: RequestHandler) -> None:
        """Runs `answer` after commit. That suffices because no other server answers reads."""
        self.after_commit(answer)

    def flush_when_idle(self) -> None:
        if not self._flush_wanted:
            self._flush_wanted = True
            self._world.when_idle(self._flush)

    def _flush(self) -> None:
        self._flush_wanted = False
        if self._in_flight is not None or self.stalled or self._over:
            return
        if self._records:
            self.close_group()
        elif self._reported_commit_sn < self._state.commit_sn:
            self._report_commit()

    def _report_commit(self) -> None:
        self._reported_commit_sn = self._state.commit_sn
        self._sync.report_commit(self._state.commit_sn)

    # --- a group -----------------------------------------------------------------------------------------------

    def close_group(self) -> None:
        """bufCurrent becomes bufFlush. The group gets the next sn and is handed on; it may be empty."""
        if self._records:
            self._world.trace.follows(self._begun_by)
        was_full = self.full
        records, undo = self._records, self._undo
        self._records, self._undo = [], []
        self._close(records, lambda group: self._state.applied_ahead(group, undo))
        if was_full:
            self._on_unparked()

    def roll_back(self, record: IncarnationRecord) -> None:
        """Closes a group with this record alone, which is applied when it is committed. Nothing may be ahead of commit."""
        assert self.idle
        self._close([record], self._state.prepared)

    def _close(self, records: list[Any], hand_on: Callable[[JournalGroup], None]) -> None:
        self.groupid += 1
        previous = self._log.last
        commit_sn = self._state.commit_sn
        group = JournalGroup(
            previous.sn + 1, self.groupid, self.epoch, self._incarnation, previous, commit_sn,
            self._world.clock.wall_ns(), records,
        )  # fmt: skip
        data, mark = encode_group(group)
        self._in_flight = group
        self._closed_at_ns = self._world.clock.monotonic_ns()
        self._closed.append((group.sn, self._answers))
        hand_on(group)
        self._answers = []
        self._reported_commit_sn = commit_sn
        self._sync.write(group, data, mark)

    # --- too few ---------------------------------------------------------------------------------------------------

    def _park(self) -> None:
        """Undoes the changes that are not committed. The groups stay in the journal and in flight."""
        self.stalled = True
        waiting = [record for group in self._state.ahead() for record in group.records] + self._records
        self.stalled_at_ns = min((record.at_ns for record in waiting), default=1) - 1
        self._state.step_back(self._undo)

    def _unpark(self) -> None:
        self.stalled = False
        self._state.apply_ahead()
        for record in self._records:
            self._state.namespace.apply(record, self._undo)
        self.flush_when_idle()
        self._on_unparked()

    # --- safe ----------------------------------------------------------------------------------------------------

    def count(self) -> None:
        """More of the journal may have become safe. After the end of the tenure this has no effect here."""
        if self._over:
            return
        if self.stalled and not self._sync.lacks_quorum:
            self._unpark()
        group = self._in_flight
        if group is None or not self._sync.safe(group.sn):
            return
        self._in_flight = None
        self.flushes += 1
        self.flushing_ns += self._world.clock.monotonic_ns() - self._closed_at_ns
        self._last_place = len(group.records)
        for ahead in self._state.ahead():
            self.report_committed(ahead)
        self._state.commit(group.sn)
        while self._closed and self._closed[0][0] <= group.sn:
            for answer in self._closed.pop(0)[1]:
                answer()
        self.flush_when_idle()

    def report_committed(self, group: JournalGroup) -> None:
        """Reports a committed group of this tenure, or one that the elected server adopted and has now recommitted."""
        mark = self._log.mark_at(group.sn)
        assert mark is not None
        holders, number = self._sync.holders(group.sn), self._sync.configuration_number
        self._commits.emit(group, self.epoch, mark.crc, holders, number)

    # --- time --------------------------------------------------------------------------------------------------

    def on_tick(self) -> None:
        """Reads continue when nothing can be committed for now."""
        if not self.stalled and not self.idle and self._sync.lacks_quorum:
            self._park()
        self.count()

    def end(self) -> list[Any]:
        """Ends the tenure without answers. Returns what undoes the records that are in no group."""
        self._over = True
        self._answers.clear()
        self._closed.clear()
        return self._undo
