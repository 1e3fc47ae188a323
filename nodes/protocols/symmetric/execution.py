"""The total order carried out at one member (SAA §6, Fig. 4, 6): its groups as transactions, from delivery until everybody sees them."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Hashable

import msgspec

from nodes.metadata.lookup import TOP
from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import ContentSummary, Read, Result
from nodes.metadata.planning import DONE
from nodes.metadata.reading import summarise
from nodes.metadata.records import AlterRecord, AtimeRecord, CallRecord
from nodes.protocols.symmetric.locks import Mode, Place
from nodes.protocols.symmetric.scheduler import AGAIN
from nodes.protocols.symmetric.touched import looked_at
from nodes.protocols.symmetric.transactions import Transaction, Transactions
from nodes.units import OpId
from nodes.wire.messages import JournalGroup

AHEAD_MAX = 256
"""Groups that are begun before they are submitted; a joiner is sent more at a time."""
LAST = 1 << 32
"""Behind all calls of a group."""


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """What came of one call."""

    op_id: OpId
    result: Result | None
    error: str
    sn: int
    place: int
    """In group sn so many calls have had an effect up to here; where the first copy failed, for one that was asked twice."""


class UnderWay(msgspec.Struct, frozen=True):
    """What one member has begun and not submitted."""

    decided: int
    """Transactions that wait for the disks."""
    waiting: int
    """Transactions that wait for locks."""
    read: int
    update: int
    write: int
    """Locks by mode."""


class Execution:
    """The namespace of one member, up to the last group that is submitted, and the groups behind that."""

    def __init__(self, namespace: Namespace, session_ttl_ns: int):
        self.namespace = namespace
        self.applied_sn = 0
        self.place = 0
        """How many calls of the last group had an effect."""
        self.durable_sn = 0
        """Up to here groups are on this server's disk: it may have said so, and others may have answered them."""
        self._transactions = Transactions(namespace, session_ttl_ns)
        self._begun: deque[tuple[JournalGroup, list[Transaction]]] = deque()
        self._queued: deque[JournalGroup] = deque()
        """Delivered, and not begun: those before them are too many."""
        self._readers = 0
        """Long reads that are under way."""

    # --- from delivery to the end --------------------------------------------------------------------------------------

    def deliver(self, group: JournalGroup) -> None:
        """The next group of the order; whatever it changes is locked for update."""
        self._queued.append(group)
        self._begin_queued()

    def _begin_queued(self) -> None:
        while self._queued and len(self._begun) < AHEAD_MAX:
            group = self._queued.popleft()
            calls = [record for record in group.records if isinstance(record, CallRecord)]
            transactions = [
                self._transactions.begin((group.sn, index), call) for index, call in enumerate(calls)
            ]
            self._begun.append((group, transactions))

    def made_durable(self, sn: int) -> None:
        """Groups up to sn are ready to be submitted, before anybody is told: readers of what they change wait from now on.

        Somebody who knows that all members hold a group answers it, and the read of whoever was answered must not miss it (safety rule 20).
        """
        self.durable_sn = min(sn, self.delivered_sn)
        self._transactions.locks.upgrade((self.durable_sn, LAST))

    def submit(self) -> tuple[JournalGroup, list[Outcome], list[OpId]]:
        """The first group that is not submitted becomes visible: what came of each of its calls, and which had an effect, in order."""
        group, transactions = self._begun.popleft()
        assert group.sn == self.applied_sn + 1, f"group {group.sn} after {self.applied_sn}"
        assert group.sn <= self.durable_sn, f"group {group.sn} is not on the disk"
        assert self.may_submit, "somebody reads what would change"
        outcomes: list[Outcome] = []
        effects: list[OpId] = []
        following = iter(transactions)
        for record in group.records:
            if isinstance(record, AtimeRecord):
                self._read_at(record)
            elif isinstance(record, CallRecord):
                outcomes.append(self._submit(next(following), effects))
        self.applied_sn, self.place = group.sn, len(effects)
        self._begin_queued()
        return group, outcomes, effects

    def _submit(self, transaction: Transaction, effects: list[OpId]) -> Outcome:
        op_id = transaction.call.op_id
        if self._transactions.submit(transaction, len(effects)):
            effects.append(op_id)
        if transaction.refused is not None:
            return Outcome(op_id, None, *transaction.refused)
        return Outcome(op_id, transaction.result, "", transaction.place[0], len(effects))

    def _read_at(self, record: AtimeRecord) -> None:
        inode = self.namespace.tree.inodes.get(record.inode)
        if inode is not None and inode.atime_ns < record.at_ns:
            newest_ns = self.namespace.newest_ns
            self.namespace.apply(
                AlterRecord(OpId("", 0), 0, newest_ns, DONE, record.inode, atime_ns=record.at_ns)
            )

    @property
    def delivered_sn(self) -> int:
        return self.applied_sn + len(self._begun) + len(self._queued)

    def roll_back(self, sn: int) -> None:
        """No group behind sn, which is at least the last one submitted, will be submitted (SAA §5.3)."""
        while self.delivered_sn > max(sn, self.applied_sn):
            if self._queued:
                self._queued.pop()
                continue
            _, transactions = self._begun.pop()
            for transaction in reversed(transactions):
                self._transactions.roll_back(transaction)
        self.made_durable(min(self.durable_sn, sn))

    # --- reading ---------------------------------------------------------------------------------------------------------

    def read_waits_for(self, operation: Read, asked_sn: int) -> int:
        """Up to which sn groups must be submitted before this read; 0 when nothing keeps it out.

        `asked_sn`: what was durable when it came. Whatever becomes durable later, it need not see.
        """
        asked_sn = min(asked_sn, self.durable_sn)
        if asked_sn <= self.applied_sn:
            return 0
        begun_sn = self.applied_sn + len(self._begun)
        things = looked_at(operation, self.namespace.tree) if asked_sn <= begun_sn else None
        if things is None:
            return asked_sn
        until: Place = (asked_sn, LAST)
        writer = self._transactions.locks.writer_of(things, until)
        return 0 if writer is None else writer[0]

    def read(self, operation: Read) -> Generator[Hashable, None, Result]:
        """Carries out a read; a long one lets others go first now and then, and keeps its read lock on everything. Raises FsError."""
        if type(operation) is not ContentSummary:
            return self.namespace.read(operation, TOP)
        self._readers += 1
        try:
            steps = summarise(self.namespace.tree, operation)
            while True:
                try:
                    next(steps)
                except StopIteration as end:
                    return end.value  # type: ignore[no-any-return]
                yield AGAIN
        finally:
            self._readers -= 1

    @property
    def may_submit(self) -> bool:
        """No write lock is granted while a long read is under way (Table 1)."""
        return not self._readers

    def under_way(self) -> UnderWay:
        decided, waiting = self._transactions.count()
        modes = self._transactions.locks.count()
        return UnderWay(
            decided, waiting, modes[Mode.READ] + self._readers, modes[Mode.UPDATE], modes[Mode.WRITE]
        )
