"""Client requests at the active. Each request is sequenced once, planned on the present namespace, and answered when nothing that its answer
shows can be lost.

Safety rule 15: an answer, a read or an error that was computed ahead of commit waits for that commit. Rule 10: duplicates are found when a
request is sequenced.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from nodes.config import MILLISECOND, ClusterConfig
from nodes.errors import FsError
from nodes.metadata.effects import Busy
from nodes.metadata.lookup import TOP, Elsewhere, Gone, Start
from nodes.metadata.new_names import check_new_names
from nodes.metadata.operations import WRITES, Absent, CloseSession, Failed, OpenSession, Result
from nodes.metadata.placement import Placement
from nodes.metadata.plans import ALONE, Look, ResolutionContext, Split
from nodes.metadata.records import EndSessionRecord, PassOverRecord, RefuseRecord
from nodes.metadata_server.backlog import Backlog, Calls
from nodes.metadata_server.idle_sessions import IdleSessions, check_fresh
from nodes.metadata_server.record_clock import RecordClock
from nodes.replicas.lease import Lease
from nodes.replicas.state import ReplicatedState
from nodes.slots import CrossGroup, Position, RecordWriter
from nodes.units import INCARNATION_SHIFT, OpId
from nodes.wire.messages import Answer, Checked, CheckOperation, Referred, Refused, Request
from nodes.world import World

DRAIN_NS = 10 * MILLISECOND
AGAIN_NS = 5 * MILLISECOND

OF_SESSIONS = (OpenSession, CloseSession)
"""Writes that concern a session alone."""


class RequestHandler:
    """Admission of one tenure. Its backlog decides from when on requests are admitted and sequenced.

    Many methods: a call is met when it arrives, when it is planned and when it is committed, and reads, writes and repeated calls differ in each.
    """

    def __init__(
        self,
        world: World,
        state: ReplicatedState,
        lease: Lease,
        times: RecordClock,
        cluster: ClusterConfig,
        early: bool,
        full: Callable[[], bool],
    ):
        """`full`: whether the log has no room for another write (DCFS2 §4.3)."""
        self._world = world
        self._state = state
        self._lease = lease
        self._send = world.network.send
        self._times = times
        self._idle_sessions = IdleSessions(world.clock, cluster)
        self._mutations = cluster.mutations
        self.full = full
        self._early = early
        """Reads and errors are sent before the writes that they show are committed (`reads_before_flush`)."""
        self._writer: RecordWriter
        """Set by `write_to`; before it, the backlog admits no request or holds them."""
        self.epoch = 0
        self.backlog = Backlog(world, self.on_request)
        self.still = False
        """The namespace is frozen while this server makes an image of it."""
        self.draining = False
        """This group is draining for a checkpoint."""
        self.shared: Calls = {}
        """Calls that several groups carry out together, each with the peer that sent it last."""
        self.successor = ""
        """Server to which this tenure hands over, and to which waiting callers are then referred."""
        self.cross_group: CrossGroup | None = None
        self._placement: Placement | None = None
        """Both None in a cluster of one group."""

    def write_to(self, writer: RecordWriter, epoch: int) -> None:
        """The takeover has prepared the log of this tenure."""
        self._writer = writer
        self.epoch = epoch

    def joins(self, cross_group: CrossGroup, placement: Placement) -> None:
        """The cluster has several groups."""
        self.cross_group, self._placement = cross_group, placement

    # --- time ------------------------------------------------------------------------------------------------------

    def now_ns(self) -> int:
        """A time later than every record of this server, every answer and every stamp it has received (`RecordClock`)."""
        return self._times.next_ns(self._state.namespace.newest_ns)

    def refuse_all(self) -> None:
        """Ends the tenure. Waiting callers are redirected and keep their operation numbers."""
        for peer, request in (*self.backlog.emptied(), *self.shared.values()):
            self._send(peer, Refused(request.number, self.epoch, "no longer active", self.successor))
        self.shared.clear()

    # --- requests --------------------------------------------------------------------------------------------------

    def on_request(self, peer: str, request: Request) -> None:
        if self.backlog.is_held:
            self.backlog.keep(peer, request)
            return
        self._times.received(request.seen_ns)
        if self._placement is not None:
            self.learn_moves(request.moves)
        writes = type(request.operation) in WRITES
        moved = bool(request.starts) and request.moves != self._state.namespace.tree.moves
        moved = moved or (writes and self._is_rolled_back(request))
        if moved and self._mutations.retry_across_moved_directory:
            self._send_elsewhere(peer, request, 0, None)
        elif writes and self._is_repeated(peer, request):
            pass
        elif writes and (self._writer.stalled or self._writer.full or self.full()):
            self.backlog.stall(peer, request)
        elif moved:
            self._refer(peer, request, 0, None)
        elif writes:
            self._on_write(peer, request)
        else:
            self._on_read(peer, request)

    def learn_moves(self, moves: int) -> None:
        """Takes over another group's larger count of moves. Every group promises a move before any counts it: a larger count without a promise here
        shows that a person forced a group, which may have lost some. A count of another incarnation is none of these."""
        tree, writer = self._state.namespace.tree, self._writer
        lost = moves > tree.moves and moves >> INCARNATION_SHIFT == tree.moves >> INCARNATION_SHIFT
        if lost and not (tree.locks.moves or writer.stalled or writer.full or self.draining):
            writer.apply(PassOverRecord(self.now_ns(), 0, moves))

    def _is_rolled_back(self, request: Request) -> bool:
        """Whether a write was sent before the last recovery, or by a client that does not know of it: it may have been answered then, and the
        memory of that went with it. A client that still waits sends it again."""
        incarnation = self._state.namespace.tree.moves >> INCARNATION_SHIFT
        return request.moves >> INCARNATION_SHIFT < incarnation and type(request.operation) not in OF_SESSIONS

    def _is_repeated(self, peer: str, request: Request) -> bool:
        """Whether this call is under way or already settled. The check comes before the path is resolved (safety rule 25)."""
        namespace, op_id = self._state.namespace, OpId(request.session, request.number)
        recorded = namespace.sessions.recorded(op_id)
        if op_id in self.shared:
            self.shared[op_id] = (peer, request)
        elif op_id in namespace.crossing.calls:
            self.backlog.block(peer, request)
        elif recorded is None or (type(recorded) is Absent and request.leg > recorded.leg):
            return False
        elif type(recorded) is Absent:
            self._send_elsewhere(peer, request, 0, None)
        else:
            self._report_recorded(peer, op_id, recorded)
        return True

    def _on_read(self, peer: str, request: Request) -> None:
        session, number, operation = request.session, request.number, request.operation
        try:
            start = request.starts[0] if request.starts else TOP
            answer = self._answer(session, number, self._state.namespace.read(operation, start), "")  # type: ignore[arg-type]
        except FsError as error:
            answer = self._answer(session, number, None, str(error))
        except (Elsewhere, Gone, Busy) as other:
            self._on_other(peer, request, other)
            return
        self._when_safe(lambda: self._report(peer, answer))

    def _on_write(self, peer: str, request: Request) -> None:
        writer = self._writer
        namespace, op_id = self._state.namespace, OpId(request.session, request.number)
        now_ns = self.now_ns()
        try:
            check_fresh(request.operation, op_id.client, now_ns, self._idle_sessions.ttl_ns)
            check_new_names(request.operation)
            plan = namespace.plan(
                request.operation,  # type: ignore[arg-type]
                op_id,
                request.lowest_open,
                now_ns,
                ALONE
                if self._placement is None
                else ResolutionContext(tuple(request.starts), self._placement),
            )
        except FsError as error:
            self._refuse(peer, request, op_id, str(error))
            return
        except (Elsewhere, Gone, Busy) as other:
            self._on_other(peer, request, other)
            return
        if isinstance(plan, Split | Look):
            self._share(peer, request, op_id, plan)
            return
        sn, place = writer.apply(plan)
        answer = Answer(request.session, request.number, self.epoch, sn, place, plan.result, "", plan.at_ns)  # type: ignore[union-attr]
        writer.after_executed(lambda: self._report(peer, answer))

    def _refuse(self, peer: str, request: Request, op_id: OpId, error: str) -> None:
        """Records the error, too. Its answer may cross a retry of the same call, which must then not be carried out."""
        writer, namespace = self._writer, self._state.namespace
        if not namespace.remembers(request.operation, op_id, request.lowest_open):
            answer = self._answer(op_id.client, op_id.number, None, error)
            answer.forgotten = True
            self._when_safe(lambda: self._report(peer, answer))
            return
        at = self.position()
        failed = Failed(error, *at)
        writer.apply(RefuseRecord(op_id, request.lowest_open, at.at_ns, failed))
        self._report_recorded(peer, op_id, failed)

    def _report_recorded(self, peer: str, op_id: OpId, recorded: Result) -> None:
        if isinstance(recorded, Failed):
            sn, place, error = recorded.sn, recorded.place, recorded.error
            answer = Answer(op_id.client, op_id.number, self.epoch, sn, place, None, error, recorded.at_ns)
        else:
            answer = self._answer(op_id.client, op_id.number, recorded, "")
        self._when_safe(lambda: self._report(peer, answer), executed=True)

    def position(self) -> Position:
        """The position of the next record. Its time is new."""
        return Position(*self._writer.next_place, self.now_ns())

    async def end_idle_sessions(self) -> None:
        """Ends the sessions of dead clients by records, without end. A client with a call under way keeps its session."""
        idle = self._idle_sessions
        idle.wait_anew()
        safe = asyncio.Event()
        safe.set()
        while True:
            await self._world.clock.sleep(idle.round_ns)
            writer, namespace = self._writer, self._state.namespace
            behind, safe = not safe.is_set(), asyncio.Event()
            writer.after_commit(safe.set)
            if behind or self.backlog.is_held or self.still or self.draining or writer.stalled or self.full():
                continue
            busy = {op_id.client for op_id in (*self.shared, *namespace.crossing.calls)}
            now_ns = self.now_ns()
            for client in idle.due(namespace.sessions, now_ns):
                if client not in busy:
                    writer.apply(EndSessionRecord(now_ns, client))

    # --- several groups --------------------------------------------------------------------------------------------

    def _on_other(self, peer: str, request: Request, other: Elsewhere | Gone | Busy) -> None:
        if isinstance(other, Busy):
            self.backlog.block(peer, request)
        elif isinstance(other, Gone):
            self._refer(peer, request, 0, None, other.inode)
        elif other.start == start_of(request, other.path):
            self._refer(peer, request, 0, None)
        else:
            self._refer(peer, request, other.path, other.start)

    def _refer(self, peer: str, request: Request, path: int, start: Start | None, ended: int = 0) -> None:
        """Redirects the call to another group. A record refuses a write here first, so that no late copy of this leg is carried out (safety rule
        25)."""
        writer, namespace = self._writer, self._state.namespace
        if type(request.operation) in WRITES:
            op_id = OpId(request.session, request.number)
            if not namespace.remembers(request.operation, op_id, request.lowest_open):
                self._refuse(peer, request, op_id, f"ESTALE: the session {op_id.client} is not open")
                return
            writer.apply(RefuseRecord(op_id, request.lowest_open, self.now_ns(), Absent(request.leg)))
        self._send_elsewhere(peer, request, path, start, ended)

    def _send_elsewhere(
        self, peer: str, request: Request, path: int, start: Start | None, ended: int = 0
    ) -> None:
        """Redirects the call once the dentry or move count that it shows is safe from loss."""
        moves = self._state.namespace.tree.moves
        referred = Referred(
            request.session, request.number, self.epoch, path, start, moves, self.now_ns(), request.leg, ended
        )
        self._writer.after_commit(lambda: self._report(peer, referred))

    def _share(self, peer: str, request: Request, op_id: OpId, plan: Split | Look) -> None:
        assert self.cross_group is not None
        if self.cross_group.drains:
            self.backlog.block(peer, request)
            self._world.clock.call_later(DRAIN_NS, self.backlog.wake)
            return
        self.shared[op_id] = (peer, request)
        moves = self._state.namespace.tree.moves
        self.cross_group.begin(op_id, request.lowest_open, plan, moves)

    def settle(self, op_id: OpId, result: Result | None, error: str, at: Position | None) -> None:
        """The groups' decision is committed. The client is answered if it asked this server. In such a cluster no other server answers reads."""
        shared = self.shared.pop(op_id, None)
        if shared is not None:
            answer = self._answer(op_id.client, op_id.number, None if error else result, error)
            if at is not None:
                answer.sn, answer.place, answer.at_ns = at
            self._report(shared[0], answer)

    def again(self, op_id: OpId) -> Callable[[], None]:
        """A step that plans a call again, if several groups are carrying it out now. A call that a predecessor began does nothing here: a client
        that has repeated it at this server is served separately."""
        return partial(self._plan_anew, op_id) if op_id in self.shared else lambda: None

    def _plan_anew(self, op_id: OpId) -> None:
        shared = self.shared.pop(op_id, None)
        if shared is not None:
            self.backlog.block(*shared)
            self._world.clock.call_later(AGAIN_NS, self.backlog.wake)

    def resolve_anew(self, op_id: OpId) -> None:
        shared = self.shared.pop(op_id, None)
        if shared is not None:
            self._refer(*shared, 0, None)

    def _answer(self, session: str, number: int, result: object, error: str) -> Answer:
        writer = self._writer
        at_ns = (writer.stalled_at_ns if writer.stalled else 0) or self.now_ns()
        return Answer(session, number, self.epoch, writer.open_sn, writer.open_place, result, error, at_ns)  # type: ignore[arg-type]

    def _when_safe(self, report: Callable[[], None], executed: bool = False) -> None:
        """Sends the answer when it is safe. `executed`: the answer reports an executed operation, which every later read must show, whichever
        server answers it."""
        writer = self._writer
        if self._early or writer.stalled:
            report()
        elif executed:
            writer.after_executed(report)
        else:
            writer.after_commit(report)

    def _report(self, peer: str, answer: Answer | Referred) -> None:
        """Without a lease a successor may have changed what the answer shows, or the dentry or move count of a referral (safety rule 16)."""
        if self._lease.may_reply(self.epoch):
            self._send(peer, answer)

    # --- Check -----------------------------------------------------------------------------------------------------

    def on_check(self, peer: str, message: CheckOperation) -> None:
        """CFS §4.4 step 2: reports whether this operation has been executed. It only saves a round trip.

        While requests are held the namespace may lack committed records, so that the client is to send its request, which is held, too.
        """
        if self.backlog.is_held:
            self._send(peer, Checked(message.number, self.epoch, "pending", self.now_ns()))
            return
        if not self._lease.holds:
            return
        op_id = OpId(message.session, message.number)
        recorded = self._state.namespace.sessions.recorded(op_id)
        if type(recorded) is Absent:
            recorded = None
        self._send(
            peer,
            Checked(message.number, self.epoch, "absent" if recorded is None else "recorded", self.now_ns()),
        )
        if recorded is not None:
            self._report_recorded(peer, op_id, recorded)


def start_of(request: Request, path: int) -> Start:
    """The start to which the client has resolved a path of its request."""
    return request.starts[path] if path < len(request.starts) else TOP
