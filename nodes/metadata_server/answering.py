"""Requests of clients at the active: each is sequenced once, planned on the present namespace, answered when nothing it shows can be lost.

Safety rule 15: an answer, a read or an error that was computed ahead of commit waits for it. Rule 10: duplicates are found when sequenced.
"""

from __future__ import annotations

from collections.abc import Callable

from nodes.config import MILLISECOND, ClusterConfig
from nodes.errors import FsError
from nodes.metadata.effects import Busy
from nodes.metadata.lookup import TOP, Elsewhere, Gone, Start
from nodes.metadata.operations import WRITES, Absent, Failed, Result
from nodes.metadata.placement import Placement
from nodes.metadata.planning import ALONE, Look, Split, Way
from nodes.metadata.records import EndSessionRecord, RefuseRecord
from nodes.metadata_server.idle_sessions import IdleSessions, check_fresh
from nodes.metadata_server.record_clock import RecordClock
from nodes.replicas.lease import Lease
from nodes.replicas.state import ReplicatedState
from nodes.slots import CrossGroup, Position, RecordWriter
from nodes.trace.present import UNKNOWN, cause_of
from nodes.units import OpId
from nodes.wire.messages import Answer, Checked, CheckOperation, Referred, Refused, Request
from nodes.world import World

HELD_MAX = 10_000
DRAIN_NS = 10 * MILLISECOND
AGAIN_NS = 5 * MILLISECOND


Calls = dict[OpId, tuple[str, Request]]
"""By who asked last; one that is asked again keeps its turn, and comes up once."""


def _keep(calls: Calls, peer: str, request: Request) -> None:
    op_id = OpId(request.session, request.number)
    if op_id in calls or len(calls) < HELD_MAX:
        calls[op_id] = (peer, request)


class Answering:
    """Intake of one tenure. While `held`, requests are kept in order and nothing is sequenced."""

    def __init__(
        self,
        world: World,
        state: ReplicatedState,
        lease: Lease,
        times: RecordClock,
        cluster: ClusterConfig,
        early: bool,
    ):
        self._world = world
        self._state = state
        self._lease = lease
        self._send = world.network.send
        self._times = times
        self._idle_sessions = IdleSessions(world.clock, cluster)
        self._mutations = cluster.mutations
        self._early = early
        """Reads and errors do not wait for what they show (`reads_before_flush`)."""
        self.writer: RecordWriter | None = None
        self.epoch = 0
        self._holds = 1
        self._held: Calls = {}
        self._parked: Calls = {}
        self._waiting: Calls = {}
        """Calls that met something undecided."""
        self.full: Callable[[], bool] = lambda: False
        """Whether the log has no room for another write (DCFS2 §4.3)."""
        self.still = False
        """The namespace stands still while an image of it is made here."""
        self.draining = False
        """A checkpoint is being marked here."""
        self._shared: Calls = {}
        """Calls that several groups are carrying out, by who asked last."""
        self._woken = False
        self.cross_group: CrossGroup | None = None
        self._placement: Placement | None = None
        """Both None in a cluster of one group."""

    # --- holding ---------------------------------------------------------------------------------------------------

    def begin(self, epoch: int) -> None:
        self.epoch = epoch
        self.release()

    def hold(self) -> None:
        self._holds += 1

    def joins(self, cross_group: CrossGroup, placement: Placement) -> None:
        """The cluster has several groups."""
        self.cross_group, self._placement = cross_group, placement

    @property
    def shares(self) -> bool:
        """Whether a call is being carried out by several groups."""
        return bool(self._shared)

    # --- time ------------------------------------------------------------------------------------------------------

    def now_ns(self) -> int:
        """Later than every record here, every answer and everything heard (`RecordClock`)."""
        return self._times.next_ns(self._state.namespace.newest_ns)

    def heard(self, at_ns: int) -> None:
        self._times.heard(at_ns)

    def release(self) -> None:
        self._holds -= 1
        if self._holds:
            return
        held, self._held = self._held, {}
        self._take_up(held)

    def _take_up(self, calls: dict[OpId, tuple[str, Request]]) -> None:
        """Requests that waited: each follows from its call, and nothing that comes after follows from them."""
        trace = self._world.trace
        present = trace.at()
        for peer, request in calls.values():
            trace.follows(cause_of(request, UNKNOWN))
            self.on_request(peer, request)
        trace.follows(present)

    def refuse_all(self) -> None:
        """The tenure is over: those who wait are sent elsewhere, with the same operation number."""
        for calls in (self._held, self._parked, self._waiting, self._shared):
            for peer, request in calls.values():
                self._send(peer, Refused(request.number, self.epoch, "no longer active", ""))
            calls.clear()

    # --- requests --------------------------------------------------------------------------------------------------

    def on_request(self, peer: str, request: Request) -> None:
        if self._holds:
            _keep(self._held, peer, request)
            return
        if self._placement is not None:
            self.heard(request.seen_ns)
        assert self.writer is not None
        writes = type(request.operation) in WRITES
        moved = bool(request.starts) and request.moves != self._state.namespace.tree.moves
        if moved and self._mutations.retry_across_moved_directory:
            self._send_elsewhere(peer, request, 0, None)
        elif writes and self._is_repeated(peer, request):
            pass
        elif writes and (self.writer.parked or self.writer.full or self.full()):
            self._park(peer, request)
        elif moved:
            self._refer(peer, request, 0, None)
        elif writes:
            self._on_write(peer, request)
        else:
            self._on_read(peer, request)

    def _is_repeated(self, peer: str, request: Request) -> bool:
        """Whether this call is under way here, or settled: asked before the path is looked at (safety rule 25)."""
        namespace, op_id = self._state.namespace, OpId(request.session, request.number)
        recorded = namespace.sessions.recorded(op_id)
        if op_id in self._shared:
            self._shared[op_id] = (peer, request)
        elif op_id in namespace.crossing.calls:
            self._wait(peer, request)
        elif recorded is None or (type(recorded) is Absent and request.leg > recorded.leg):
            return False
        elif type(recorded) is Absent:
            self._send_elsewhere(peer, request, 0, None)
        else:
            self._tell_recorded(peer, request.number, recorded)
        return True

    def _park(self, peer: str, request: Request) -> None:
        """A write waits until enough replicas are there again, or there is room in the open group and in the log."""
        _keep(self._parked, peer, request)

    def on_unparked(self) -> None:
        parked, self._parked = self._parked, {}
        self._take_up(parked)

    def _on_read(self, peer: str, request: Request) -> None:
        number, operation = request.number, request.operation
        try:
            start = request.starts[0] if request.starts else TOP
            answer = self._answer(number, self._state.namespace.read(operation, start), "")  # type: ignore[arg-type]
        except FsError as error:
            answer = self._answer(number, None, str(error))
        except (Elsewhere, Gone, Busy) as other:
            self._on_other(peer, request, other)
            return
        self._when_safe(lambda: self._tell(peer, answer))

    def _on_write(self, peer: str, request: Request) -> None:
        writer = self.writer
        assert writer is not None
        namespace, op_id = self._state.namespace, OpId(request.session, request.number)
        now_ns = self.now_ns()
        try:
            check_fresh(request.operation, op_id.client, now_ns, self._idle_sessions.ttl_ns)
            plan = namespace.plan(
                request.operation,  # type: ignore[arg-type]
                op_id,
                request.lowest_open,
                now_ns,
                ALONE if self._placement is None else Way(tuple(request.starts), self._placement),
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
        answer = Answer(request.number, self.epoch, sn, place, plan.result, "", plan.at_ns)  # type: ignore[union-attr]
        writer.after_executed(lambda: self._tell(peer, answer))

    def _refuse(self, peer: str, request: Request, op_id: OpId, error: str) -> None:
        """The error is remembered too: its answer may cross the same call that is asked again, which then must not be carried out."""
        writer, namespace = self.writer, self._state.namespace
        assert writer is not None
        if not namespace.remembers(request.operation, op_id, request.lowest_open):
            answer = self._answer(request.number, None, error)
            answer.forgotten = True
            self._when_safe(lambda: self._tell(peer, answer))
            return
        at = self.position()
        failed = Failed(error, *at)
        writer.apply(RefuseRecord(op_id, request.lowest_open, at.at_ns, failed))
        self._tell_recorded(peer, request.number, failed)

    def _tell_recorded(self, peer: str, number: int, recorded: Result) -> None:
        if isinstance(recorded, Failed):
            answer = Answer(
                number, self.epoch, recorded.sn, recorded.place, None, recorded.error, recorded.at_ns
            )
        else:
            answer = self._answer(number, recorded, "")
        self._when_safe(lambda: self._tell(peer, answer), executed=True)

    def position(self) -> Position:
        """Of the record that is made next; its time is new."""
        assert self.writer is not None
        return Position(*self.writer.next_place, self.now_ns())

    async def end_idle_sessions(self) -> None:
        """For ever: the sessions of clients that are dead end by records, but for those of which a call is under way."""
        idle = self._idle_sessions
        while True:
            await self._world.clock.sleep(idle.round_ns)
            writer, namespace = self.writer, self._state.namespace
            if self._holds or self.still or self.draining or writer is None or writer.parked or self.full():
                continue
            busy = {op_id.client for op_id in (*self._shared, *namespace.crossing.calls)}
            now_ns = self.now_ns()
            for client in idle.due(namespace.sessions, now_ns):
                if client not in busy:
                    writer.apply(EndSessionRecord(now_ns, client))

    # --- several groups --------------------------------------------------------------------------------------------

    def _on_other(self, peer: str, request: Request, other: Elsewhere | Gone | Busy) -> None:
        if isinstance(other, Busy):
            self._wait(peer, request)
        elif isinstance(other, Gone) or other.start == self._start_of(request, other.path):
            self._refer(peer, request, 0, None)
        else:
            self._refer(peer, request, other.path, other.start)

    def _start_of(self, request: Request, path: int) -> Start:
        return request.starts[path] if path < len(request.starts) else TOP

    def _refer(self, peer: str, request: Request, path: int, start: Start | None) -> None:
        """The call goes on elsewhere. A write is refused here by a record first: no late copy of this leg is carried out (safety rule 25)."""
        writer, namespace = self.writer, self._state.namespace
        assert writer is not None
        if type(request.operation) in WRITES:
            op_id = OpId(request.session, request.number)
            if not namespace.remembers(request.operation, op_id, request.lowest_open):
                self._refuse(peer, request, op_id, f"ESTALE: the session {op_id.client} is not open")
                return
            writer.apply(RefuseRecord(op_id, request.lowest_open, self.now_ns(), Absent(request.leg)))
        self._send_elsewhere(peer, request, path, start)

    def _send_elsewhere(self, peer: str, request: Request, path: int, start: Start | None) -> None:
        """What it says, a dentry or the count of moves, must not be lost either."""
        assert self.writer is not None
        moves = self._state.namespace.tree.moves
        referred = Referred(request.number, self.epoch, path, start, moves, self.now_ns(), request.leg)
        self.writer.after_commit(lambda: self._send(peer, referred))

    def _wait(self, peer: str, request: Request) -> None:
        _keep(self._waiting, peer, request)

    def _share(self, peer: str, request: Request, op_id: OpId, plan: Split | Look) -> None:
        assert self.cross_group is not None
        if self.cross_group.drains:
            self._wait(peer, request)
            self._world.clock.call_later(DRAIN_NS, self.wake)
            return
        self._shared[op_id] = (peer, request)
        moves = self._state.namespace.tree.moves
        self.cross_group.begin(op_id, request.lowest_open, plan, moves)

    def settle(self, op_id: OpId, result: Result | None, error: str, at: Position | None) -> None:
        """What the groups decided is committed: the client is told, if it asked this server. Nobody else answers reads in such a cluster."""
        shared = self._shared.pop(op_id, None)
        if shared is not None:
            answer = self._answer(op_id.number, None if error else result, error)
            if at is not None:
                answer.sn, answer.place, answer.at_ns = at
            self._tell(shared[0], answer)

    def again(self, op_id: OpId) -> None:
        shared = self._shared.pop(op_id, None)
        if shared is not None:
            self._wait(*shared)
            self._world.clock.call_later(AGAIN_NS, self.wake)

    def resolve_anew(self, op_id: OpId) -> None:
        shared = self._shared.pop(op_id, None)
        if shared is not None:
            self._refer(*shared, 0, None)

    def wake(self) -> None:
        """Looks again, once per turn, at the calls that waited for a decision."""
        if self._waiting and not self._woken:
            self._woken = True
            self._world.when_idle(self._look_again)

    def _look_again(self) -> None:
        self._woken = False
        waiting, self._waiting = self._waiting, {}
        self._take_up(waiting)

    def _answer(self, number: int, result: object, error: str) -> Answer:
        writer = self.writer
        assert writer is not None
        at_ns = (writer.parked_at_ns if writer.parked else 0) or self.now_ns()
        return Answer(number, self.epoch, writer.open_sn, writer.open_place, result, error, at_ns)  # type: ignore[arg-type]

    def _when_safe(self, tell: Callable[[], None], executed: bool = False) -> None:
        """`executed`: what a client did is told, which every later read has to show, whoever answers it."""
        writer = self.writer
        assert writer is not None
        if self._early or writer.parked:
            tell()
        elif executed:
            writer.after_executed(tell)
        else:
            writer.after_commit(tell)

    def _tell(self, peer: str, answer: Answer) -> None:
        if self._lease.lets_out(self.epoch):
            self._send(peer, answer)

    # --- Check -----------------------------------------------------------------------------------------------------

    def on_check(self, peer: str, message: CheckOperation) -> None:
        """CFS §4.4 step 2: has this operation been executed? It only saves a round trip."""
        if self._holds or not self._lease.holds:
            return
        recorded = self._state.namespace.sessions.recorded(OpId(message.session, message.number))
        if type(recorded) is Absent:
            recorded = None
        self._send(
            peer,
            Checked(message.number, self.epoch, "absent" if recorded is None else "recorded", self.now_ns()),
        )
        if recorded is not None:
            self._tell_recorded(peer, message.number, recorded)
