"""The request interface (SAA §6, Fig. 4 to 6): calls become jobs. This member answers reads; writes wait for their place in the total order.

A read waits until the durable changes of what it reads are shown, because other members may have answered them. So it sees every answer given
anywhere before it arrived (safety rule 20). A client that asks a second member gets an answer there too; the call is executed once.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from nodes.errors import FsError
from nodes.metadata.new_names import check_new_names
from nodes.metadata.operations import WRITES, Attributes, Contents, EndSession, Open, Read, Result, Stat
from nodes.metadata.records import AtimeRecord, CallRecord, Record
from nodes.metadata_server.idle_sessions import IdleSessions
from nodes.protocols.symmetric.execution import CallOutcome
from nodes.protocols.symmetric.replica import SymmetricReplica
from nodes.protocols.symmetric.scheduler import ScheduledCall, Scheduler, Steps
from nodes.units import OpId
from nodes.wire.messages import Answer, Checked, CheckOperation, Refused, Request

HELD_MAX = 20_000
"""Most jobs at once. A client repeats a call that is dropped."""
ATIMES_MAX = 1_000
CALLS_PER_MESSAGE = 64
BUSY_CALLS = 8
"""Number of writes under way from which the next one is near, because an answered caller asks again at once."""
TURN = "turn"
"""Event that writes wait for before their broadcast: their turn, and nothing else."""
LEASE = "lease"
NOBODY = OpId("", 0)


class Write:
    """A write that a client has sent to this member, until it is answered."""

    __slots__ = ("job", "outcome", "record")

    def __init__(self, record: CallRecord):
        self.record = record
        self.job: ScheduledCall | None = None
        self.outcome: CallOutcome | None = None


class Requests:
    """The calls of clients at one member, from their arrival to their answer."""

    def __init__(self, replica: SymmetricReplica):
        self._replica = replica
        self._send = replica.world.network.send
        self._scheduler = Scheduler()
        self._writes: dict[OpId, Write] = {}
        self._reads: dict[OpId, ScheduledCall] = {}
        self._clients = IdleSessions(replica.world.clock, replica.config.cluster, leads=False)
        self._next_round_ns = 0
        self._ending: list[CallRecord] = []
        """Ends of dead clients' sessions for the next broadcast."""
        self._message: list[Record] = []
        """Records of the next broadcast while it is assembled."""
        self._atimes: dict[int, int] = {}
        """Read times by inode since the last broadcast carried them (SAA §6)."""
        self._may_answer: Callable[[], bool] = lambda: False
        self.log_is_full = False
        """Writes wait for an image, after which the log is short again (DCFS2 §4.3)."""
        self.view = 0

    def queues(self) -> tuple[int, int]:
        """The numbers of active and idle jobs."""
        active = self._scheduler.active + self._scheduler.waiting_for(TURN)
        return active, len(self._scheduler) - active

    # --- writes -----------------------------------------------------------------------------------------------------

    def on_write(self, peer: str, request: Request) -> None:
        op_id = OpId(request.session, request.number)
        asked = self._writes.get(op_id)
        if asked is not None:
            assert asked.job is not None
            asked.job.peer = peer
        elif len(self._scheduler) < HELD_MAX:
            self._order(peer, request)

    def _order(self, peer: str, request: Request) -> None:
        """Admits a write to the total order. What no member may admit is refused here, without a place in it."""
        op_id = OpId(request.session, request.number)
        try:
            check_new_names(request.operation)
        except FsError as error:
            self._answer(peer, op_id, None, str(error))
            return
        self._replica.times.received(request.seen_ns)
        record = CallRecord(self._replica.times.latest_ns, op_id, request.lowest_open, request.operation)  # type: ignore[arg-type]
        write = self._writes[op_id] = Write(record)
        write.job = ScheduledCall(peer, request.number, self._write(write))
        self._scheduler.add(write.job)
        self._scheduler.run()

    def end_idle_sessions(self, turn: int, waits: bool) -> bool:
        """Requests the end of every dead client's session. Returns whether there is any. A session used before its turn survives. Members before this
        one, `turn` in number, have one round each to do it. `waits`: no write is shown now, not even a renewal."""
        clock_ns = self._replica.world.clock.monotonic_ns()
        if clock_ns < self._next_round_ns:
            return False
        self._next_round_ns = clock_ns + self._clients.round_ns
        if waits or self.log_is_full:
            self._ending = []
            return False
        sessions, now_ns = self._replica.namespace.sessions, self._replica.now_ns()
        self._ending = [
            CallRecord(now_ns, NOBODY, 0, EndSession(client, sessions.used_ns(client)))
            for client in self._clients.due(sessions, now_ns, turn)
        ]
        return bool(self._ending)

    def _write(self, write: Write) -> Steps:
        """Runs steps 2 to 8 of SAA §6, and again in the next view if this one ends without an outcome."""
        op_id = write.record.op_id
        while write.outcome is None:
            yield TURN
            if write.outcome is None:
                self._message.append(write.record)
                yield op_id
        del self._writes[op_id]
        assert write.job is not None
        outcome, at_ns = write.outcome, self._replica.execution.namespace.newest_ns
        sn, place = outcome.sn, outcome.place
        error = outcome.error
        answer = Answer(op_id.client, op_id.number, self.view, sn, place, outcome.result, error, at_ns)
        namespace = self._replica.namespace
        answer.forgotten = bool(error) and not namespace.remembers(
            write.record.operation, op_id, write.record.lowest_open
        )
        self._send(write.job.peer, answer)

    def begin(self, view: int) -> None:
        """Begins a view. Writes that earlier views did not submit are broadcast in it, and reads check again what they wait for."""
        self.view = view
        self.log_is_full = False
        self._clients.wait_anew()
        self._scheduler.wake_all(but=TURN)
        self._scheduler.run()

    @property
    def waiting(self) -> bool:
        """Whether a write is to be broadcast."""
        return not self.log_is_full and (self._scheduler.waiting_for(TURN) > 0 or bool(self._ending))

    @property
    def busy(self) -> bool:
        """Whether the next message is near, so that it can serve as the acknowledgement (safety rule 5)."""
        return len(self._writes) >= BUSY_CALLS and not self.log_is_full

    def take(self) -> list[Record]:
        """Removes and returns the writes for one message, with the read times of files."""
        if self.waiting:
            self._message = [AtimeRecord(at_ns, inode) for inode, at_ns in self._atimes.items()]
            self._atimes.clear()
            self._scheduler.wake(TURN, CALLS_PER_MESSAGE)
            self._scheduler.run()
            self._message += self._ending
            self._ending = []
        message, self._message = self._message, []
        return message

    def on_shown(self, sn: int, outcomes: list[CallOutcome]) -> None:
        """Group sn is submitted here, and every member holds it. This member answers its clients and resumes the reads that waited."""
        for outcome in outcomes:
            write = self._writes.get(outcome.op_id)
            if write is not None:
                write.outcome = outcome
                self._scheduler.wake(outcome.op_id)
        self._scheduler.wake(sn)
        self._scheduler.run()

    # --- reads ------------------------------------------------------------------------------------------------------

    def on_read(self, peer: str, request: Request) -> None:
        """Adds a read. A repeated read keeps its turn, so that copies do not pile up while the lease is lost."""
        op_id = OpId(request.session, request.number)
        asked = self._reads.get(op_id)
        if asked is not None:
            asked.peer = peer
        elif len(self._scheduler) < HELD_MAX:
            read = self._read(op_id, request.operation)  # type: ignore[arg-type]
            job = self._reads[op_id] = ScheduledCall(peer, request.number, read)
            self._scheduler.add(job)

    def answer_reads(self, may_answer: Callable[[], bool]) -> None:
        """Answers the reads whose turn has come, under the lease.

        Every message calls this, so it wakes the reads that wait for the lease only while the lease holds.
        """
        self._may_answer = may_answer
        if self._scheduler.waiting_for(LEASE) and may_answer():
            self._scheduler.wake(LEASE)
        self._scheduler.run()

    @property
    def reading(self) -> bool:
        """Whether a long read is under way and has to be continued."""
        return self._scheduler.active > 0

    def _read(self, op_id: OpId, operation: Read) -> Steps:
        """Runs a read. Groups answered before its arrival are durable here, because every member holds an answered group."""
        asked_sn = self._replica.execution.durable_sn
        while True:
            sn = self._replica.execution.read_waits_for(operation, asked_sn)
            if sn:
                yield sn
            elif self._may_answer():
                break
            else:
                yield LEASE
        result: Result | None = None
        error = ""
        try:
            result = yield from self._replica.execution.read(operation)
        except FsError as refused:
            error = str(refused)
        while not self._may_answer():
            yield LEASE
        self._answer_read(self._reads.pop(op_id), op_id, operation, result, error)

    def _answer_read(
        self, job: ScheduledCall, op_id: OpId, operation: Read, result: Result | None, error: str
    ) -> None:
        if isinstance(operation, Open) and isinstance(result, Contents):
            self._touch(result.inode)
        elif isinstance(operation, Stat) and isinstance(result, Attributes):
            read_ns = max(result.atime_ns, self._atimes.get(result.inode, 0))
            result = msgspec.structs.replace(result, atime_ns=read_ns)
        self._answer(job.peer, op_id, result, error)

    def _answer(self, peer: str, op_id: OpId, result: Result | None, error: str) -> None:
        """Answers a call that has no place in the total order."""
        execution = self._replica.execution
        at_ns = execution.namespace.newest_ns
        position = execution.position
        self._send(peer, Answer(op_id.client, op_id.number, self.view, *position, result, error, at_ns))

    def _touch(self, inode: int) -> None:
        if inode in self._atimes or len(self._atimes) < ATIMES_MAX:
            self._atimes[inode] = self._replica.times.read_ns()

    # --- checks and refusals ------------------------------------------------------------------------------------------

    def on_check(self, peer: str, message: CheckOperation) -> None:
        """Answers a check of a call, which only saves the client a round trip: the order recognises a repeated call."""
        asked = self._writes.get(OpId(message.session, message.number))
        if asked is not None:
            assert asked.job is not None
            asked.job.peer = peer
        state = "absent" if asked is None else "pending"
        self._send(peer, Checked(message.number, self.view, state, self._replica.now_ns()))

    def refuse(self, peer: str, number: int, hint: str) -> None:
        self._send(peer, Refused(number, self.view, "not in the primary view", hint))

    def refuse_all(self, hint: str) -> None:
        """Refuses all calls when this server leaves the view. The client gets the outcome from another member."""
        for job in self._scheduler.clear():
            self.refuse(job.peer, job.number, hint)
        self._writes.clear()
        self._reads.clear()
        self._atimes.clear()


def is_write(request: Request) -> bool:
    return type(request.operation) in WRITES
