"""Requests of clients at the primary: each is sequenced once, planned on the present namespace, answered when every member of the view has it.

Safety rule 15: an answer, a read or an error that was computed ahead of what is decided waits for it. Rule 10: duplicates are found when sequenced.
"""

from __future__ import annotations

from nodes.errors import FsError
from nodes.metadata.lookup import TOP
from nodes.metadata.operations import WRITES, Failed, Result
from nodes.metadata.records import EndSessionRecord, RefuseRecord
from nodes.metadata_server.idle_sessions import IdleSessions, check_fresh
from nodes.protocols.paxos.member import Member
from nodes.protocols.paxos.proposer import Proposer
from nodes.replicas.lease import Lease
from nodes.trace.present import UNKNOWN, cause_of
from nodes.units import OpId
from nodes.wire.messages import Answer, Checked, CheckOperation, Refused, Request

HELD_MAX = 10_000


class Answering:
    """Intake of one tenure. Before `begin`, and while too many slots are open, requests are kept in order."""

    def __init__(
        self,
        member: Member,
        lease: Lease,
    ):
        self._member = member
        self._lease = lease
        self._send = member.world.network.send
        self._proposer: Proposer | None = None
        self._ballot = 0
        self._idle_sessions = IdleSessions(member.world.clock, member.config.cluster)
        self._held: dict[OpId, tuple[str, Request | CheckOperation]] = {}

    def begin(self, ballot: int, proposer: Proposer) -> None:
        self._ballot, self._proposer = ballot, proposer
        proposer.on_room = self._take_held
        self._take_held()

    def _take_held(self) -> None:
        """Each follows from its call, and nothing that comes after follows from them."""
        held, self._held = self._held, {}
        trace = self._member.world.trace
        present = trace.at()
        for peer, call in held.values():
            trace.follows(cause_of(call, UNKNOWN))
            if isinstance(call, Request):
                self.on_request(peer, call)
            else:
                self.on_check(peer, call)
        trace.follows(present)

    def _hold(self, peer: str, call: Request | CheckOperation) -> None:
        op_id = OpId(call.session, call.number)
        if op_id in self._held or len(self._held) < HELD_MAX:
            self._held[op_id] = (peer, call)

    def refuse_all(self) -> None:
        """The tenure is over: those who wait are sent elsewhere, with the same operation number."""
        for peer, request in self._held.values():
            self._send(peer, Refused(request.number, self._ballot, "no longer primary", ""))
        self._held.clear()

    # --- requests --------------------------------------------------------------------------------------------------

    def on_request(self, peer: str, request: Request) -> None:
        proposer = self._proposer
        writes = type(request.operation) in WRITES
        if proposer is None or (writes and proposer.full):
            self._hold(peer, request)
        elif writes:
            self._on_write(peer, request, proposer)
        else:
            self._on_read(peer, request, proposer)

    def _on_read(self, peer: str, request: Request, proposer: Proposer) -> None:
        try:
            result = self._member.state.namespace.read(request.operation, TOP)  # type: ignore[arg-type]
            answer = self._answer(request.number, result, "", proposer)
        except FsError as error:
            answer = self._answer(request.number, None, str(error), proposer)
        proposer.after_decided(lambda: self._tell(peer, answer))

    def _on_write(self, peer: str, request: Request, proposer: Proposer) -> None:
        namespace, op_id = self._member.state.namespace, OpId(request.session, request.number)
        recorded = namespace.sessions.recorded(op_id)
        if recorded is not None:
            self._tell_recorded(peer, request.number, recorded, proposer)
            return
        now_ns = self._member.now_ns()
        try:
            check_fresh(request.operation, op_id.client, now_ns, self._idle_sessions.ttl_ns)
            plan = namespace.plan(request.operation, op_id, request.lowest_open, now_ns)  # type: ignore[arg-type]
        except FsError as error:
            self._refuse(peer, request, op_id, str(error), proposer)
            return
        slot = proposer.apply(plan)  # type: ignore[arg-type]
        answer = Answer(request.number, self._ballot, slot, 1, plan.result, "", plan.at_ns)  # type: ignore[union-attr]
        proposer.after_executed(lambda: self._tell(peer, answer))

    async def end_idle_sessions(self, proposer: Proposer) -> None:
        """For ever: the sessions of clients that are dead end by records."""
        member, idle = self._member, self._idle_sessions
        while True:
            await member.world.clock.sleep(idle.round_ns)
            now_ns = member.now_ns()
            for client in idle.due(member.state.namespace.sessions, now_ns):
                if not proposer.full:
                    proposer.apply(EndSessionRecord(now_ns, client))

    def _refuse(self, peer: str, request: Request, op_id: OpId, error: str, proposer: Proposer) -> None:
        """The error is remembered too: its answer may cross the same call that is asked again, which then must not be carried out."""
        if not self._member.state.namespace.remembers(request.operation, op_id, request.lowest_open):
            answer = self._answer(request.number, None, error, proposer)
            answer.forgotten = True
            proposer.after_decided(lambda: self._tell(peer, answer))
            return
        at_ns = self._member.now_ns()
        failed = Failed(error, proposer.last + 1, 1, at_ns)
        proposer.apply(RefuseRecord(op_id, request.lowest_open, at_ns, failed))
        self._tell_recorded(peer, request.number, failed, proposer)

    def _tell_recorded(self, peer: str, number: int, recorded: Result, proposer: Proposer) -> None:
        if isinstance(recorded, Failed):
            at = recorded.sn, recorded.place
            answer = Answer(number, self._ballot, *at, None, recorded.error, recorded.at_ns)
        else:
            answer = self._answer(number, recorded, "", proposer)
        proposer.after_executed(lambda: self._tell(peer, answer))

    def _answer(self, number: int, result: object, error: str, proposer: Proposer) -> Answer:
        at_ns = self._member.now_ns()
        return Answer(number, self._ballot, proposer.last, proposer.last_place, result, error, at_ns)  # type: ignore[arg-type]

    def _tell(self, peer: str, answer: Answer) -> None:
        if self._lease.lets_out(self._ballot):
            self._send(peer, answer)

    # --- Check -----------------------------------------------------------------------------------------------------

    def on_check(self, peer: str, message: CheckOperation) -> None:
        """Has this operation been executed? It only saves a round trip."""
        proposer = self._proposer
        if proposer is None:
            self._hold(peer, message)
            return
        if not self._lease.holds:
            return
        op_id = OpId(message.session, message.number)
        recorded = self._member.state.namespace.sessions.recorded(op_id)
        state = "absent" if recorded is None else "recorded"
        self._send(peer, Checked(message.number, self._ballot, state, self._member.now_ns()))
        if recorded is not None:
            self._tell_recorded(peer, message.number, recorded, proposer)
