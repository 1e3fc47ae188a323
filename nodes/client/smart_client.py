"""The smart client (CFS §4.4, Fig. 6): the application sees one call and one result, applied once, across failovers.

A log record opens the client's session at each group. Each request carries the lowest number that is still unanswered (safety rule 10). Paths
that lead through several groups are followed by referral, starting from the dentry cache.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from nodes.client.deadlines import Deadlines
from nodes.client.dentries import Dentries
from nodes.client.paths import Paths
from nodes.client.pending_call import PendingCall, Reply, called
from nodes.client.retry import pause_ns
from nodes.client.routing import Routes
from nodes.client.sequences import mkdir_parents, summary
from nodes.client.session_keeper import Keeping, SessionCall
from nodes.client.views import Views
from nodes.config import MILLISECOND, SECOND, ClusterConfig
from nodes.errors import FsError
from nodes.families import family_named
from nodes.metadata.lookup import TOP
from nodes.metadata.operations import (
    WRITES,
    CloseSession,
    ContentSummary,
    Mkdir,
    OpenSession,
    Operation,
    Stat,
)
from nodes.metadata.sessions import OPEN_MAX
from nodes.trace.events import Invoked
from nodes.units import ROOT_GROUP
from nodes.wire.messages import (
    Answer,
    AskView,
    Checked,
    CheckOperation,
    Message,
    Referred,
    Refused,
    Request,
    ViewCopy,
)
from nodes.world import World, wait_at_most

LONG_NS = 1 * SECOND


class SmartClient:
    """One client session on a world of its own. `call` may run many times at once."""

    def __init__(self, world: World, cluster: ClusterConfig, session: str, reports_calls: bool = False):
        """`reports_calls`: each call emits an event when it begins, not only when it takes long."""
        self._world = world
        self._session = session
        self._loop = asyncio.get_running_loop()
        self._timing = cluster.timing
        self._mutations = cluster.mutations
        family = family_named(cluster.protocol)
        first = world.rng.randrange(1 << 16) if family.asked == "anywhere" else 0
        reads_anywhere = family.reads_anywhere(len(cluster.groups))
        self._groups = {
            group.number: Routes(group.members, first, reads_anywhere) for group in cluster.groups
        }
        self._good_hints = family.asked == "reads anywhere"
        """Every server that answers reads knows the leader by its lease, so that the server that it names is asked at once."""
        self._alone = len(self._groups) == 1
        self._long_ns = 0 if reports_calls else LONG_NS
        self._views = Views(world, cluster, self._groups)
        dentries = Dentries(cluster.mutations.stale_dentry_cache, cluster.knobs.cached_directories)
        self._paths = Paths(world, self._groups, dentries, self._stat)
        self._open_max = cluster.knobs.open_calls or OPEN_MAX
        self._seen_ns = 0
        self._next = 0
        self._open: dict[int, PendingCall] = {}
        self._deadlines = Deadlines(world, cluster.timing.client_timeout_ms * MILLISECOND, self._timed_out)
        self._waiting_for_room: list[asyncio.Future[None]] = []
        ttl_ns = cluster.session_ttl_ms * MILLISECOND
        self._keeping = Keeping(world, ttl_ns, self._groups, self._run_session)
        world.network.receive(self.on_message)

    @property
    def session(self) -> str:
        return self._session

    def servers_of(self, group: int) -> Sequence[str]:
        """The known servers of a group; none of a group that does not exist."""
        routes = self._groups.get(group)
        return routes.servers if routes is not None else ()

    @property
    def believed_active(self) -> str:
        """The active of the first group, as the client believes."""
        return self._groups[ROOT_GROUP].believed

    # --- steps ----------------------------------------------------------------------------------------------------

    def on_message(self, peer: str, message: Message) -> None:
        if isinstance(message, Answer | Refused | Referred | Checked):
            pending = self._open.get(message.number)
            if isinstance(message, Answer | Referred) and message.session != self._session:
                return
            if pending is not None and not pending.overtaken(peer, message):
                pending.reply(peer, message)
        elif isinstance(message, ViewCopy):
            for group in self._views.learn(peer, message):
                self._ask_anew(group, peer, message)

    def _ask_anew(self, group: int, peer: str, copy: ViewCopy) -> None:
        """The new active of a group keeps requests until it serves: calls that wait for another server need not wait for their time to be over."""
        for pending in self._open.values():
            if pending.group == group and pending.server != copy.active:
                pending.server = copy.active
                pending.check = pending.check or (pending.copies > 0 and type(pending.operation) in WRITES)
                pending.pause.set()
                pending.reply(peer, copy)

    def _timed_out(self, number: int) -> None:
        pending = self._open.get(number)
        if pending is not None:
            pending.reply("", None)

    # --- calls ----------------------------------------------------------------------------------------------------

    async def call(self, operation: Operation) -> Answer:
        """Runs one operation to its end. Raises FsError; `ETIMEDOUT` means that its outcome is unknown."""
        if self._alone:
            return await self._run(operation)
        if type(operation) is Mkdir and operation.parents:
            return await mkdir_parents(self._run, operation)
        if type(operation) is ContentSummary:
            return await summary(self._run, operation.path)
        return await self._run(operation)

    async def _run(self, operation: Operation) -> Answer:
        while self._open and self._next + 1 - next(iter(self._open)) >= self._open_max:
            room = self._loop.create_future()
            self._waiting_for_room.append(room)
            await room
        return await self._run_now(operation)

    async def _run_now(self, operation: Operation, reported: bool = True) -> Answer:
        pending = self._pending(operation, ROOT_GROUP)
        answer = None
        try:
            answer = await self._until_answered(pending)
        finally:
            del self._open[pending.number]
            self._make_room()
        if reported:
            self._report(pending, answer)
        if answer is None:
            raise FsError(
                "ETIMEDOUT", f"no answer within {self._timing.call_deadline_ms} ms: the outcome is unknown"
            )
        if answer.error:
            name, _, explanation = answer.error.partition(": ")
            if name == "ESTALE" and answer.forgotten:
                self._keeping.open_anew(pending.group)
            raise FsError(name, explanation)
        if not self._alone:
            self._paths.learn_result(operation, answer, pending.began_moves)
        return answer

    def _pending(self, operation: Operation, group: int) -> PendingCall:
        self._next += 1
        now_ns = self._world.clock.monotonic_ns()
        pending = PendingCall(self._next, operation, now_ns, group, self._paths.moves)
        self._open[pending.number] = pending
        if not self._long_ns:
            self._report_long(pending, now_ns)
        return pending

    def _make_room(self) -> None:
        """Starts calls that waited because an older one is still open."""
        waiting, self._waiting_for_room = self._waiting_for_room, []
        for room in waiting:
            if not room.done():
                room.set_result(None)

    async def _stat(self, path: str) -> Answer:
        """A `Stat` as part of another call, which is not reported as a call. It does not wait for room: that other call may be the one that has to
        end first, and no session remembers a read."""
        return await self._run_now(Stat(path), reported=False)

    async def _run_session(self, operation: SessionCall, group: int) -> Answer | None:
        pending = self._pending(operation, group)
        pending.check = type(operation) is OpenSession and not self._groups[group].opened
        try:
            answer = await self._until_answered(pending)
        finally:
            del self._open[pending.number]
            self._make_room()
        # A copy on its way may still open a session that was refused as late, when no server remembers its closing.
        undecided = answer is not None and answer.forgotten and type(operation) is OpenSession
        self._report(pending, None if undecided else answer)
        self._views.ask(group)
        return answer

    async def close(self) -> None:
        """Ends the client and closes its sessions. Calls that are under way may be refused."""
        await self._keeping.close()

    # --- one call --------------------------------------------------------------------------------------------------

    async def _until_answered(self, pending: PendingCall) -> Answer | None:
        deadline_ns = pending.began_ns + self._timing.call_deadline_ms * MILLISECOND
        operation = pending.operation
        is_write = type(operation) in WRITES
        if not self._alone and type(operation) not in (OpenSession, CloseSession):
            error = await self._paths.resolve_path(pending)
            if error is not None:
                return error
        pending.server = self._groups[pending.group].first(is_write, pending.began_ns)
        while True:
            if (
                is_write
                and type(operation) not in (OpenSession, CloseSession)
                and not self._groups[pending.group].opened
            ):
                await self._keeping.open_at(pending.group)
            pending.tries += 1
            if not self._groups[pending.group].asks_views:
                self._views.ask(pending.group)
            peer, reply = await self._ask(pending)
            group = pending.group
            if not self._groups[group].knows(peer):
                group, reply = self._from_elsewhere(peer, reply, group)
            routes = self._groups[group]
            if isinstance(reply, Answer) and routes.accept(peer, reply.epoch, is_write):
                self._seen_ns = max(self._seen_ns, reply.at_ns)
                pending.server = peer
                pending.resolved_ns = pending.resolved_at.get(group, 0)
                if (
                    is_write and not reply.error
                ):  # A refusal leaves no record, which alone renews the session.
                    routes.used_ns = max(routes.used_ns, pending.began_ns)
                return reply if self._is_outcome(pending, reply) else None
            now = self._world.clock.monotonic_ns()
            if now >= deadline_ns:
                return None
            if isinstance(reply, ViewCopy):
                continue
            if isinstance(reply, Checked):
                pending.check, pending.server = False, peer
                self._seen_ns = max(self._seen_ns, reply.at_ns)
                continue
            if isinstance(reply, Referred) and routes.accept(peer, reply.epoch):
                pending.leg += 1
                pending.copies = 0  # That group carries none of them out: it has recorded this.
                self._seen_ns = max(self._seen_ns, reply.at_ns)
                if self._alone:
                    self._paths.learn_moves(reply.moves)
                else:
                    error = await self._paths.follow(pending, reply)
                    if error is not None:
                        return error
                pending.server = self._groups[pending.group].first(is_write, now)
                continue
            self._report_long(pending, now)
            if reply is None:
                routes.unanswered(pending.server, now)
                if pending.tries % routes.count == 0:
                    self._views.ask_pool(pending.group)
            hint = reply.active if isinstance(reply, Refused) else ""
            if hint and not routes.knows(hint):
                self._world.network.send(peer, AskView())
            pending.server = routes.next(pending.server, hint)
            pending.check = is_write
            pending.led = self._good_hints and pending.server == hint and not pending.led
            if reply is not None and not pending.led:
                pending.pause = asyncio.Event()
                await wait_at_most(self._world.clock, pending.pause, pause_ns(pending.tries, self._world.rng))

    def _is_outcome(self, pending: PendingCall, answer: Answer) -> bool:
        """Whether an answer decides the call. An unknown session or a forgotten call decides nothing when a copy was sent before. Nor does it when
        this client has closed its session: the link may have delivered the request a second time, behind the closing, which alone is remembered.
        What opens a session is asked anew (`_run_session`)."""
        kind = type(pending.operation)
        behind_closing = self._keeping.over and kind is not CloseSession
        in_doubt = kind in WRITES and kind is not OpenSession and (pending.copies > 1 or behind_closing)
        return not (answer.forgotten and in_doubt)

    def _from_elsewhere(self, peer: str, reply: Reply, asked: int) -> tuple[int, Reply]:
        """A group that was asked before may still answer, and then it has carried the call out. Any other reply of it comes too late, also that
        it has forgotten the session since."""
        for group, routes in self._groups.items():
            if routes.knows(peer) and isinstance(reply, Answer) and not reply.forgotten:
                return group, reply
        return asked, None

    def _report_long(self, pending: PendingCall, now: int) -> None:
        if not pending.reported and now - pending.began_ns >= self._long_ns:
            pending.reported = True
            self._world.trace.emit(
                Invoked(self._session, pending.number, pending.operation, pending.began_ns)
            )

    async def _ask(self, pending: PendingCall) -> tuple[str, Reply]:
        """One question and its reply: the request, or after a failure first the question whether it has been executed (`Check`)."""
        number, answered = pending.number, pending.answered
        if answered is not None:
            pending.answered = None
            return answered
        waiting: asyncio.Future[tuple[str, Reply]] = self._loop.create_future()
        pending.waiting = waiting
        self._deadlines.begin(number)
        if pending.check:
            self._world.network.send(pending.server, CheckOperation(self._session, number))
        else:
            request = self._request(pending)
            request.seen_ns, request.leg, request.moves = self._seen_ns, pending.leg, self._paths.moves
            if not self._alone:
                pending.resolved_at[pending.group] = pending.resolved_ns
                if any(start is not TOP for start in pending.starts):
                    request.starts, request.moves = pending.starts, pending.moves
            self._world.network.send(pending.server, request)
        try:
            return await waiting
        finally:
            self._deadlines.end(number)

    def _request(self, pending: PendingCall) -> Request:
        operation = pending.operation
        if isinstance(operation, OpenSession):
            if not pending.copies or self._mutations.opened_by_fresh_stamps:
                since = max(operation.since, self._groups[pending.group].sent + 1)
                operation = pending.operation = OpenSession(since, self._seen_ns)
        elif type(operation) in WRITES:
            routes = self._groups[pending.group]
            routes.sent = max(routes.sent, pending.number)
        pending.copies += 1
        return Request(self._session, pending.number, next(iter(self._open)), operation)

    def _report(self, pending: PendingCall, answer: Answer | None) -> None:
        now_ns = self._world.clock.monotonic_ns()
        self._world.trace.emit(called(self._session, pending, answer, now_ns))
