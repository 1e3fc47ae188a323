"""The execution of the total order at one member (SAA §6, Fig. 4, 6): groups are transactions from delivery until they are visible."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Hashable
from typing import Any

import msgspec

from nodes.metadata.lookup import TOP
from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import ContentSummary, Failed, Read, Result
from nodes.metadata.plans import DONE
from nodes.metadata.records import AlterRecord, AtimeRecord, CallRecord
from nodes.metadata.tree_reader import summarise
from nodes.protocols.symmetric.footprint import looked_at
from nodes.protocols.symmetric.locks import Mode, Place
from nodes.protocols.symmetric.scheduler import AGAIN
from nodes.protocols.symmetric.transactions import Transaction, Transactions
from nodes.replicas.state import ReplicatedState
from nodes.units import OpId
from nodes.wire.messages import JournalGroup

AHEAD_MAX = 256
"""Most groups begun and not submitted. A joiner may receive more at once."""
LAST = 1 << 32
"""Place after all calls of a group."""


class CallOutcome(msgspec.Struct, frozen=True, gc=False):
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


class Submitted(msgspec.Struct, frozen=True, gc=False):
    """A group that has become visible."""

    group: JournalGroup
    outcomes: list[CallOutcome]
    effects: list[OpId]
    """The calls with an effect, in order."""
    digest: int
    """Digest of the namespace after it."""


class Execution(ReplicatedState):
    """The namespace of one member up to the last submitted group, and the delivered groups after it.

    A group is committed when every member holds it. It is then submitted, unless a long read is under way or the namespace is frozen for an image.
    """

    def __init__(self, namespace: Namespace, sn: int, session_ttl_ns: int, thawed: Callable[[], None]):
        """`thawed` is called when the namespace has caught up after an image."""
        super().__init__(namespace, sn, lambda sn, epoch, digest: None)
        self._session_ttl_ns = session_ttl_ns
        self._on_thawed = thawed
        self.durable_sn = sn
        """Last group on this server's disk. Other members may know of it and have answered its calls."""
        self.position = after(sn)
        """Position (sn, number of calls with an effect in that group) that a read of the namespace sees."""
        self.submitted: list[Submitted] = []
        """Submitted groups that are not reported yet."""
        self._transactions = Transactions(namespace, session_ttl_ns)
        self._begun: deque[list[Transaction]] = deque()
        """Transactions of the first pending groups; the others wait because too many are begun."""
        self._readers = 0
        """Number of long reads under way."""

    def restart(self, namespace: Namespace, sn: int) -> None:
        super().restart(namespace, sn)
        self.durable_sn, self.position = sn, after(sn)
        self._transactions = Transactions(namespace, self._session_ttl_ns)
        self._begun.clear()

    # --- delivery and submission ---------------------------------------------------------------------------------------

    def prepared(self, group: JournalGroup) -> None:
        """Takes the next group of the order and locks what it changes for update."""
        super().prepared(group)
        self._begin_pending()

    def _begin_pending(self) -> None:
        while len(self._begun) < min(len(self._pending), AHEAD_MAX):
            group = self._pending[len(self._begun)]
            calls = [record for record in group.records if isinstance(record, CallRecord)]
            self._begun.append(
                [self._transactions.begin((group.sn, index), call) for index, call in enumerate(calls)]
            )

    def made_durable(self, sn: int) -> None:
        """Groups up to sn are ready to be submitted. Readers of what they change wait from now on, before any other member is notified.

        A member answers a group once all members hold it, and a later read of that client must not miss it (safety rule 20).
        """
        self.durable_sn = min(sn, self.delivered_sn)
        self._transactions.locks.upgrade((self.durable_sn, LAST))

    def commit(self, sn: int) -> None:
        """Every member holds the groups up to sn: submits those that are on this disk, as soon as nothing keeps the namespace from changing."""
        self.commit_sn = max(self.commit_sn, min(sn, self.delivered_sn))
        if not self._frozen:
            self._apply_committed(len(self._pending))

    @property
    def _ready_sn(self) -> int:
        return min(self.commit_sn, self.durable_sn) if self.may_submit else self.applied_sn

    def catch_up(self, most: int) -> bool:
        done = super().catch_up(most)
        if done:
            self._on_thawed()
        return done

    def _apply(self, group: JournalGroup, undo: list[Any] | None) -> None:
        """Submits the next group, which becomes visible."""
        assert group.sn == self.applied_sn + 1, f"group {group.sn} after {self.applied_sn}"
        outcomes: list[CallOutcome] = []
        effects: list[OpId] = []
        following = iter(self._begun.popleft())
        for record in group.records:
            if isinstance(record, AtimeRecord):
                self._read_at(record)
            elif isinstance(record, CallRecord):
                outcomes.append(self._submit(next(following), effects))
        self.applied_sn, self.position = group.sn, (group.sn, len(effects))
        self.submitted.append(Submitted(group, outcomes, effects, self.namespace.digest))
        self._begin_pending()

    def _submit(self, transaction: Transaction, effects: list[OpId]) -> CallOutcome:
        op_id = transaction.call.op_id
        if self._transactions.submit(transaction, len(effects)):
            effects.append(op_id)
        sn, result = transaction.place[0], transaction.result
        if isinstance(result, Failed):
            return CallOutcome(op_id, None, result.error, result.sn, result.place)
        return CallOutcome(op_id, result, transaction.error, sn, len(effects))

    def _read_at(self, record: AtimeRecord) -> None:
        inode = self.namespace.tree.inodes.get(record.inode)
        if inode is not None and inode.atime_ns < record.at_ns:
            newest_ns = self.namespace.newest_ns
            self.namespace.apply(
                AlterRecord(OpId("", 0), 0, newest_ns, DONE, record.inode, atime_ns=record.at_ns)
            )

    @property
    def delivered_sn(self) -> int:
        return self.applied_sn + len(self._pending)

    def cut(self, sn: int) -> bool:
        """The journal lost its groups after sn: rolls back those that are not submitted (SAA §5.3)."""
        while self.delivered_sn > max(sn, self.applied_sn):
            if len(self._begun) == len(self._pending):
                for transaction in reversed(self._begun.pop()):
                    self._transactions.roll_back(transaction)
            self._pending.pop()
        self.commit_sn = min(self.commit_sn, self.delivered_sn)
        self.made_durable(min(self.durable_sn, sn))
        return super().cut(sn)

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

    @property
    def answered_sn(self) -> int:
        return self.durable_sn

    def under_way(self) -> UnderWay:
        decided, waiting = self._transactions.count()
        modes = self._transactions.locks.count()
        return UnderWay(
            decided, waiting, modes[Mode.READ] + self._readers, modes[Mode.UPDATE], modes[Mode.WRITE]
        )


def after(sn: int) -> tuple[int, int]:
    """The position after all calls of group sn, of which it is not known how many had an effect."""
    return (sn + 1, 0) if sn else (0, 0)
