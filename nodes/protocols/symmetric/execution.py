"""The execution of the total order at one member (SAA §6, Fig. 4, 6): groups are transactions from delivery until they are visible."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Hashable

import msgspec

from nodes.metadata.lookup import TOP
from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import ContentSummary, Failed, Read, Result
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
"""Most groups begun and not submitted. A joiner may receive more at once."""
LAST = 1 << 32
"""Place after all calls of a group."""


class Outcome(msgspec.Struct, frozen=True, gc=False):
    """The outcome of one call."""

    op_id: OpId
    result: Result | None
    error: str
    sn: int
    place: int
    """Number of calls of group sn with an effect so far; for a repeated call that failed, the place of its first copy."""


class UnderWay(msgspec.Struct, frozen=True):
    """The transactions and locks of one member that are not submitted yet."""

    decided: int
    """Number of transactions that wait for the disks."""
    waiting: int
    """Number of transactions that wait for locks."""
    read: int
    update: int
    write: int
    """Number of locks held in read, update and write mode."""


class Execution:
    """The namespace of one member up to the last submitted group, and the delivered groups after it."""

    def __init__(self, namespace: Namespace, session_ttl_ns: int):
        self.namespace = namespace
        self.applied_sn = 0
        self.place = 0
        """Number of calls of the last group with an effect."""
        self.durable_sn = 0
        """Last group on this server's disk. Other members may know of it and have answered its calls."""
        self._transactions = Transactions(namespace, session_ttl_ns)
        self._begun: deque[tuple[JournalGroup, list[Transaction]]] = deque()
        self._queued: deque[JournalGroup] = deque()
        """Delivered groups that wait because too many are begun."""
        self._readers = 0
        """Number of long reads under way."""

    # --- delivery and submission ---------------------------------------------------------------------------------------

    def deliver(self, group: JournalGroup) -> None:
        """Takes the next group of the order and locks what it changes for update."""
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
        """Groups up to sn are ready to be submitted. Readers of what they change wait from now on, before any other member is notified.

        A member answers a group once all members hold it, and a later read of that client must not miss it (safety rule 20).
        """
        self.durable_sn = min(sn, self.delivered_sn)
        self._transactions.locks.upgrade((self.durable_sn, LAST))

    def submit(self) -> tuple[JournalGroup, list[Outcome], list[OpId]]:
        """Submits the next group, which becomes visible. Returns it, the outcomes of its calls and the calls with an effect, in order."""
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
        sn, result = transaction.place[0], transaction.result
        if isinstance(result, Failed):
            return Outcome(op_id, None, result.error, result.sn, result.place)
        return Outcome(op_id, result, transaction.error, sn, len(effects))

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
        """Rolls back the delivered groups after sn that are not submitted (SAA §5.3)."""
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
        """The sn up to which groups must be submitted before this read; 0 when it need not wait.

        `asked_sn` is the durable sn at the arrival of the read, which need not see later groups.
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
        """Carries out a read. A long one yields to other jobs at times and keeps its read lock on the whole tree. Raises FsError."""
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
        """Whether no long read is under way, which would exclude write locks (Table 1)."""
        return not self._readers

    def under_way(self) -> UnderWay:
        decided, waiting = self._transactions.count()
        modes = self._transactions.locks.count()
        return UnderWay(
            decided, waiting, modes[Mode.READ] + self._readers, modes[Mode.UPDATE], modes[Mode.WRITE]
        )
