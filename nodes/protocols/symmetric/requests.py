"""The request interface (SAA §6, Fig. 4 to 6): reads are answered here, writes wait for their place in the total order.

A read waits until everything that this member has delivered is shown: so it comes behind whatever was answered anywhere before it was asked
(safety rule 20). A client that asks a second member is answered there too; the call is carried out once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import msgspec

from nodes.errors import FsError
from nodes.metadata.lookup import TOP
from nodes.metadata.operations import WRITES, Attributes, Contents, Open, Result, Stat
from nodes.metadata.records import AtimeRecord, CallRecord, Record
from nodes.protocols.symmetric.execution import Outcome
from nodes.protocols.symmetric.replica import Replica
from nodes.units import OpId
from nodes.wire.messages import Answer, Checked, CheckOperation, Refused, Request

HELD_MAX = 10_000
"""Calls that wait here at most; a client whose call is dropped asks again."""
ATIMES_MAX = 1_000
CALLS_PER_MESSAGE = 64
BUSY_CALLS = 8
"""With so many writes under way the next one is near: as soon as one is answered its caller asks again."""


class Requests:
    """Calls of clients at one member, from when they come until they are answered."""

    def __init__(self, replica: Replica):
        self._replica = replica
        self._send = replica.world.network.send
        self._asked: dict[OpId, tuple[str, CallRecord]] = {}
        """Who waits for the outcome of each write."""
        self._unsent: deque[CallRecord] = deque()
        """The active queue: writes that are not broadcast yet."""
        self._reads: deque[tuple[int, str, Request]] = deque()
        """The idle queue: reads, and the sn that must be shown before each."""
        self._atimes: dict[int, int] = {}
        """When files were read here, since the last write took it along (SAA §6)."""
        self.view = 0

    # --- writes -----------------------------------------------------------------------------------------------------

    def on_write(self, peer: str, request: Request) -> None:
        op_id = OpId(request.session, request.number)
        asked = self._asked.get(op_id)
        if asked is not None:
            self._asked[op_id] = (peer, asked[1])
        elif len(self._asked) < HELD_MAX:
            at_ns = self._replica.world.clock.wall_ns()
            record = CallRecord(at_ns, op_id, request.lowest_open, request.operation)  # type: ignore[arg-type]
            self._asked[op_id] = (peer, record)
            self._unsent.append(record)

    def begin(self, view: int) -> None:
        """A view begins: whatever the views before did not carry out is broadcast in it."""
        self.view = view
        self._unsent = deque(record for _, record in self._asked.values())

    @property
    def waiting(self) -> bool:
        """Whether a write is to be broadcast."""
        return bool(self._unsent)

    @property
    def busy(self) -> bool:
        """Whether the next message is near, so that it will do as an acknowledgement (safety rule 5)."""
        return len(self._asked) >= BUSY_CALLS

    def take(self) -> list[Record]:
        """Writes for one message, with the times at which files were read here."""
        records: list[Record] = []
        if self._unsent:
            records += [AtimeRecord(at_ns, inode) for inode, at_ns in self._atimes.items()]
            self._atimes.clear()
        for _ in range(min(CALLS_PER_MESSAGE, len(self._unsent))):
            records.append(self._unsent.popleft())
        return records

    def on_shown(self, sn: int, outcomes: list[Outcome]) -> None:
        """Group sn has been carried out here, and every member has it: whoever asked this member is told."""
        at_ns = self._replica.execution.namespace.newest_ns
        for outcome in outcomes:
            asked = self._asked.pop(outcome.op_id, None)
            if asked is not None:
                peer = asked[0]
                number, place = outcome.op_id.number, outcome.place
                self._send(peer, Answer(number, self.view, sn, place, outcome.result, outcome.error, at_ns))

    # --- reads ------------------------------------------------------------------------------------------------------

    def on_read(self, peer: str, request: Request) -> None:
        if len(self._reads) < HELD_MAX:
            self._reads.append((self._replica.log.last.sn, peer, request))

    @property
    def reading(self) -> bool:
        return bool(self._reads)

    def answer_reads(self, may_answer: Callable[[], bool]) -> None:
        """Answers the reads whose turn has come, under the lease."""
        shown_sn = self._replica.applied_sn
        while self._reads and self._reads[0][0] <= shown_sn and may_answer():
            _, peer, request = self._reads.popleft()
            self._read(peer, request)

    def _read(self, peer: str, request: Request) -> None:
        execution = self._replica.execution
        result: Result | None = None
        error = ""
        try:
            result = execution.namespace.read(request.operation, TOP)  # type: ignore[arg-type]
        except FsError as refused:
            error = str(refused)
        if isinstance(request.operation, Open) and isinstance(result, Contents):
            self._touch(result.inode)
        elif isinstance(request.operation, Stat) and isinstance(result, Attributes):
            read_ns = max(result.atime_ns, self._atimes.get(result.inode, 0))
            result = msgspec.structs.replace(result, atime_ns=read_ns)
        at_ns = execution.namespace.newest_ns
        self._send(
            peer,
            Answer(
                request.number,
                self.view,
                execution.applied_sn,
                execution.place,
                result,
                error,
                at_ns,
            ),
        )

    def _touch(self, inode: int) -> None:
        if inode in self._atimes or len(self._atimes) < ATIMES_MAX:
            self._atimes[inode] = self._replica.world.clock.wall_ns()

    # --- Check, and the end -------------------------------------------------------------------------------------------

    def on_check(self, peer: str, message: CheckOperation) -> None:
        """It only saves the client a round: whatever it asks again is found to be a repetition in its place of the order."""
        op_id = OpId(message.session, message.number)
        asked = self._asked.get(op_id)
        if asked is not None:
            self._asked[op_id] = (peer, asked[1])
        state = "absent" if asked is None else "pending"
        self._send(peer, Checked(message.number, self.view, state))

    def refuse(self, peer: str, number: int, hint: str) -> None:
        self._send(peer, Refused(number, self.view, "not in the primary view", hint))

    def refuse_all(self, hint: str) -> None:
        """Outside the view nobody is answered; another member finds out what came of the calls."""
        for op_id, (peer, _) in self._asked.items():
            self.refuse(peer, op_id.number, hint)
        for _, peer, request in self._reads:
            self.refuse(peer, request.number, hint)
        self._asked.clear()
        self._unsent.clear()
        self._reads.clear()
        self._atimes.clear()


def is_write(request: Request) -> bool:
    return type(request.operation) in WRITES
