"""The transaction control (SAA §6, Fig. 4, 6): each call is a transaction of basic services, which all take effect or none.

A transaction begins at its place in the total order and is decided when it has its locks. It is submitted when every member holds it, or rolled back
when its view ends without it. The order alone determines outcome, times and handles. They are the same at every member, however many of the
earlier transactions a member has submitted already.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import Enum, auto
from typing import Any

from nodes.errors import FsError
from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import EndSession, Failed, Result
from nodes.metadata.records import CallRecord, Record, RefuseRecord
from nodes.metadata_server.idle_sessions import check_fresh
from nodes.protocols.symmetric.basic_services import services_of
from nodes.protocols.symmetric.footprint import ALONE, wanted_by
from nodes.protocols.symmetric.handles import Handles
from nodes.protocols.symmetric.locks import MemberLocks, Place


class TransactionPhase(Enum):
    BEGUN = auto()
    """The transaction waits for locks."""
    DECIDED = auto()
    SUBMITTED = auto()
    ROLLED_BACK = auto()


NEXT: dict[TransactionPhase, tuple[TransactionPhase, ...]] = {
    TransactionPhase.BEGUN: (TransactionPhase.DECIDED, TransactionPhase.ROLLED_BACK),
    TransactionPhase.DECIDED: (TransactionPhase.SUBMITTED, TransactionPhase.ROLLED_BACK),
    TransactionPhase.SUBMITTED: (),
    TransactionPhase.ROLLED_BACK: (),
}


class Transaction:
    """One call, from its place in the order until it is submitted or rolled back."""

    __slots__ = ("at_ns", "before", "call", "error", "phase", "place", "record", "result")

    def __init__(self, place: Place, call: CallRecord):
        self.place = place
        self.call = call
        self.phase = TransactionPhase.BEGUN
        self.record: Record | None = None
        """Record of its change; None for a repeated or failed call."""
        self.at_ns = 0
        """Time of the record of its change or of its failure; 0 for a call that leaves no record."""
        self.result: Result | None = None
        """Result of the call, here or in its first copy; `Failed` once a failure is recorded."""
        self.error = ""
        """Error with which the call fails at this place."""
        self.before: tuple[int, int] = (0, 0)
        """First free handle and newest time before the decision."""

    def enter(self, phase: TransactionPhase) -> None:
        assert phase in NEXT[self.phase], f"transaction {self.place}: {self.phase.name} to {phase.name}"
        self.phase = phase


class Transactions:
    """The transactions of one member that are under way, in the total order."""

    def __init__(self, namespace: Namespace, session_ttl_ns: int):
        self._namespace = namespace
        self._session_ttl_ns = session_ttl_ns
        self.handles = Handles(namespace.tree)
        self.locks = MemberLocks()
        self._newest_ns = namespace.newest_ns
        """Time of the last decided transaction with a change."""
        self._answered: dict[str, deque[int]] = {}
        """By client, the lowest open call after each decided transaction that is not submitted and leaves a record. The namespace has the others'."""
        self._open: deque[Transaction] = deque()
        self._waiting: deque[Transaction] = deque()
        """Open transactions that are not decided."""

    def count(self) -> tuple[int, int]:
        """The number of decided transactions, which wait for the disks, and of those that wait for locks."""
        return len(self._open) - len(self._waiting), len(self._waiting)

    def begin(self, place: Place, call: CallRecord) -> Transaction:
        """Begins the next transaction of the order, which is decided as soon as it has its locks."""
        transaction = Transaction(place, call)
        self.locks.ask(place, wanted_by(call.operation, call.op_id))
        self._open.append(transaction)
        self._waiting.append(transaction)
        if len(self._waiting) == 1:
            self._decide_next()
        return transaction

    # --- deciding ------------------------------------------------------------------------------------------------------

    def _decide_next(self) -> None:
        """Decides transactions strictly in the total order, so that handles and times follow it too."""
        while self._waiting and self._has_its_locks(self._waiting[0]):
            self._decide(self._waiting.popleft())

    def _has_its_locks(self, transaction: Transaction) -> bool:
        if type(transaction.call.operation) in ALONE and transaction is not self._open[0]:
            return False
        return self.locks.grant(transaction.place)

    def _decide(self, transaction: Transaction) -> None:
        transaction.before = self.handles.first_free, self._newest_ns
        transaction.enter(TransactionPhase.DECIDED)
        try:
            if not self._is_repeated(transaction):
                self._plan(transaction)
        except FsError as error:
            transaction.error = str(error)
            self._plan_refusal(transaction)
        if transaction.at_ns:
            self._newest_ns = transaction.at_ns
            call = transaction.call
            answered = self._answered.setdefault(call.op_id.client, deque())
            answered.append(max(call.lowest_open, answered[-1] if answered else 0))

    def _lowest_open(self, client: str) -> int:
        """Calls below it were answered, according to transactions that are decided and not submitted."""
        answered = self._answered.get(client)
        return answered[-1] if answered else 0

    def _is_repeated(self, transaction: Transaction) -> bool:
        """Whether the call has succeeded or failed before. Raises FsError for an answered call that may be forgotten."""
        op_id = transaction.call.op_id
        if op_id.number < self._lowest_open(op_id.client):
            raise FsError("ESTALE", f"call {op_id.number} of {op_id.client} was answered and forgotten")
        transaction.result = self._namespace.sessions.recorded(op_id)
        return transaction.result is not None

    def _next_ns(self, call: CallRecord) -> int:
        return max(call.at_ns, self._newest_ns + 1)

    def _plan(self, transaction: Transaction) -> None:
        """Plans the record of a call and assigns its time and handles. Raises FsError."""
        call, now_ns = transaction.call, self._next_ns(transaction.call)
        if isinstance(call.operation, EndSession):
            transaction.record = self._namespace.plan_end(call.operation, now_ns)
        else:
            plan = self.handles.plan(
                lambda: self._namespace.plan(call.operation, call.op_id, call.lowest_open, now_ns)  # type: ignore[arg-type, return-value]
            )
            # Checked in the order, not on arrival: a refusing member could not know of a copy that another one has broadcast.
            check_fresh(call.operation, call.op_id.client, now_ns, self._session_ttl_ns)
            self.handles.give(plan)
            transaction.record = plan
            transaction.result = plan.result  # type: ignore[union-attr]
        transaction.at_ns = now_ns

    def _plan_refusal(self, transaction: Transaction) -> None:
        """Assigns a time to a failure that is to be recorded: a second copy sent to another member must not succeed later (safety rule 10)."""
        call, number = transaction.call, transaction.call.op_id.number
        recorded = self._namespace.remembers(call.operation, call.op_id, call.lowest_open)
        if recorded and number >= self._lowest_open(call.op_id.client):
            transaction.at_ns = self._next_ns(call)

    # --- submitting ------------------------------------------------------------------------------------------------------

    def submit(self, transaction: Transaction, effects: int) -> bool:
        """Submits the first transaction. Returns whether it had an effect. `effects` counts the earlier calls of its group with one."""
        assert transaction is self._open[0], f"transaction {transaction.place} is not the first"
        transaction.enter(TransactionPhase.SUBMITTED)
        changed = transaction.record is not None and self._carry_out(transaction, transaction.record)
        if transaction.error and transaction.at_ns:
            self._refuse(transaction, effects)
        self._open.popleft()
        self._forget_answered(transaction, deque.popleft)
        self.locks.release(transaction.place)
        self._decide_next()
        return changed

    def _carry_out(self, transaction: Transaction, record: Record) -> bool:
        """Carries out all basic services or none: a failure undoes the earlier ones."""
        undo: list[Any] = []
        try:
            for service in services_of(record):
                service(self._namespace, record, undo)
        except FsError as error:
            for entry in reversed(undo):
                self._namespace.undo(entry)
            transaction.result, transaction.error = None, str(error)
            return False
        return True

    def _refuse(self, transaction: Transaction, effects: int) -> None:
        """Records the failure with its place, which a later copy also gets as its answer. Images keep it like a result."""
        call, at_ns = transaction.call, transaction.at_ns
        failed = transaction.result = Failed(transaction.error, transaction.place[0], effects, at_ns)
        self._namespace.apply(RefuseRecord(call.op_id, call.lowest_open, at_ns, failed))

    def _forget_answered(self, transaction: Transaction, forget: Callable[[deque[int]], int]) -> None:
        """Forgets the client's lowest open call after a transaction that is submitted (the first) or rolled back (the last)."""
        if transaction.at_ns:
            client = transaction.call.op_id.client
            answered = self._answered[client]
            forget(answered)
            if not answered:
                del self._answered[client]

    # --- rolling back --------------------------------------------------------------------------------------------------

    def roll_back(self, transaction: Transaction) -> None:
        """Rolls back the last transaction and restores locks, handles and times as before it."""
        assert transaction is self._open[-1], f"transaction {transaction.place} is not the last"
        self._open.pop()
        if transaction.phase is TransactionPhase.DECIDED:
            first_free, self._newest_ns = transaction.before
            self.handles.take_back(first_free)
            self._forget_answered(transaction, deque.pop)
        else:
            self._waiting.pop()
        transaction.enter(TransactionPhase.ROLLED_BACK)
        self.locks.release(transaction.place)
