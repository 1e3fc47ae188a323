"""The smart client (CFS §4.4, Fig. 6): the application sees one call and one result, applied once, across failovers.

A log record opens the client's session at each group. Each request carries the lowest number that is still unanswered (safety rule 10). Paths
that lead through several groups are followed by referral, starting from the dentry cache.
"""

from __future__ import annotations

import asyncio

from nodes.client.deadlines import Deadlines
from nodes.client.keeping import Keeping, SessionCall
from nodes.client.paths import Paths
from nodes.client.pending_call import PendingCall, Reply, called
from nodes.client.retry import pause_ns
from nodes.client.routing import Routes
from nodes.client.sequences import mkdir_parents, summary
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
from nodes.world import World

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
        self._data_nodes = cluster.data.nodes
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
        self._paths = Paths(world, self._groups, cluster.mutations.stale_dentry_cache, self._stat)
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

    @property
    def believed_active(self) -> str:
        """The active of the first group, as the client believes."""
        return self._groups[ROOT_GROUP].believed

    # --- steps ----------------------------------------------------------------------------------------------------

    def on_message(self, peer: str, message: Message) -> None:
        if isinstance(message, Answer | Refused | Referred | Checked):
            course = self._open.get(message.number)
            if course is not None and not course.overtaken(peer, message):
                course.reply(peer, message)
        elif isinstance(message, ViewCopy):
            self._learn_view(peer, message)

    def _learn_view(self, peer: str, copy: ViewCopy) -> None:
        """Learns servers that were added since. Each server decides for itself whether it leads."""
        if self._mutations.view_unreachable:
            return
        for number, routes in self._groups.items():
            reported = routes.knows(peer) or (peer in self._data_nodes and number == copy.group)
            if reported and copy.active:
                self._learn_servers(routes, copy)

    def _learn_servers(self, routes: Routes, copy: ViewCopy) -> None:
        """Learns the servers of a group. The copy has the addresses of all registered servers, and only the active surely belongs to that group."""
        names = [copy.active]
        if self._mutations.view_of_all_groups:
            names += copy.addresses
        for name in names:
            self._world.network.know(name, copy.addresses.get(name, ""))
            routes.learn(name)

    def _ask_pool(self, group: int) -> None:
        """After a round without an answer: asks for the copy of the view in the pool (CFS §4.4)."""
        for node in self._data_nodes:
            self._world.network.send(node, AskView(group))

    def _timed_out(self, number: int) -> None:
        course = self._open.get(number)
        if course is not None:
            course.reply("", None)

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

    async def _run(self, operation: Operation, reported: bool = True) -> Answer:
        while self._open and self._next + 1 - next(iter(self._open)) >= OPEN_MAX:
            room = self._loop.create_future()
            self._waiting_for_room.append(room)
            await room
        course = self._course(operation, ROOT_GROUP)
        answer = None
        try:
            answer = await self._until_answered(course)
        finally:
            del self._open[course.number]
            self._make_room()
        if reported:
            self._report(course, answer)
        if answer is None:
            raise FsError(
                "ETIMEDOUT", f"no answer within {self._timing.call_deadline_ms} ms: the outcome is unknown"
            )
        if answer.error:
            name, _, explanation = answer.error.partition(": ")
            if name == "ESTALE":
                self._keeping.open_anew(course.group)
            raise FsError(name, explanation)
        if not self._alone:
            self._paths.learn_result(operation, answer, course.began_moves)
        return answer

    def _course(self, operation: Operation, group: int) -> PendingCall:
        self._next += 1
        now_ns = self._world.clock.monotonic_ns()
        course = PendingCall(self._next, operation, now_ns, group, self._paths.moves)
        self._open[course.number] = course
        if not self._long_ns:
            self._report_long(course, now_ns)
        return course

    def _make_room(self) -> None:
        """Starts calls that waited because an older one is still open."""
        waiting, self._waiting_for_room = self._waiting_for_room, []
        for room in waiting:
            if not room.done():
                room.set_result(None)

    async def _stat(self, path: str) -> Answer:
        """A `Stat` as part of another call, which is not reported as a call."""
        return await self._run(Stat(path), reported=False)

    async def _run_session(self, operation: SessionCall, group: int) -> Answer | None:
        course = self._course(operation, group)
        course.check = type(operation) is OpenSession and not self._groups[group].opened
        try:
            answer = await self._until_answered(course)
        finally:
            del self._open[course.number]
            self._make_room()
        # A copy on its way may still open a session that was refused as late, when no server remembers its closing.
        undecided = answer is not None and answer.forgotten and type(operation) is OpenSession
        self._report(course, None if undecided else answer)
        self._world.network.send(course.server, AskView(group))
        return answer

    async def close(self) -> None:
        """Ends the client and closes its sessions. Calls that are under way may be refused."""
        await self._keeping.close()

    # --- one call --------------------------------------------------------------------------------------------------

    async def _until_answered(self, course: PendingCall) -> Answer | None:
        deadline_ns = course.began_ns + self._timing.call_deadline_ms * MILLISECOND
        operation = course.operation
        is_write = type(operation) in WRITES
        if not self._alone and type(operation) not in (OpenSession, CloseSession):
            error = await self._paths.resolve_path(course)
            if error is not None:
                return error
        course.server = self._groups[course.group].first(is_write, course.began_ns)
        while True:
            if (
                is_write
                and type(operation) not in (OpenSession, CloseSession)
                and not self._groups[course.group].opened
            ):
                await self._keeping.open_at(course.group)
            course.tries += 1
            peer, reply = await self._ask(course)
            group = course.group
            if not self._groups[group].knows(peer):
                group, reply = self._from_elsewhere(peer, reply, group)
            routes = self._groups[group]
            if isinstance(reply, Answer) and routes.accept(peer, reply.epoch, is_write):
                self._seen_ns = max(self._seen_ns, reply.at_ns)
                course.server = peer
                course.resolved_ns = course.resolved_at.get(group, 0)
                if (
                    is_write and not reply.error
                ):  # A refusal leaves no record, which alone renews the session.
                    routes.used_ns = max(routes.used_ns, course.began_ns)
                return reply if self._is_outcome(course, reply) else None
            now = self._world.clock.monotonic_ns()
            if now >= deadline_ns:
                return None
            if isinstance(reply, Checked):
                course.check, course.server = False, peer
                self._seen_ns = max(self._seen_ns, reply.at_ns)
                continue
            if isinstance(reply, Referred) and routes.accept(peer, reply.epoch):
                course.leg += 1
                self._seen_ns = max(self._seen_ns, reply.at_ns)
                if not await self._paths.follow(course, reply):
                    error = await self._paths.resolve_path(course)
                    if error is not None:
                        return error
                course.server = self._groups[course.group].first(is_write, now)
                continue
            self._report_long(course, now)
            if reply is None:
                routes.unanswered(course.server, now)
                if course.tries % routes.count == 0:
                    self._ask_pool(course.group)
            hint = reply.active if isinstance(reply, Refused) else ""
            if hint and not routes.knows(hint):
                self._world.network.send(peer, AskView())
            course.server = routes.next(course.server, hint)
            course.check = is_write
            course.led = self._good_hints and course.server == hint and not course.led
            if reply is not None and not course.led:
                await self._world.clock.sleep(pause_ns(course.tries, self._world.rng))

    def _is_outcome(self, course: PendingCall, answer: Answer) -> bool:
        """Whether an answer decides the call. When a copy was sent before, an unknown session or a forgotten call decides nothing."""
        return not (answer.forgotten and course.copies > 1 and type(course.operation) in WRITES)

    def _from_elsewhere(self, peer: str, reply: Reply, asked: int) -> tuple[int, Reply]:
        """A group that was asked before may still answer, and then it has carried the call out. Any other reply of it comes too late."""
        for group, routes in self._groups.items():
            if routes.knows(peer) and isinstance(reply, Answer):
                return group, reply
        return asked, None

    def _report_long(self, course: PendingCall, now: int) -> None:
        if not course.reported and now - course.began_ns >= self._long_ns:
            course.reported = True
            self._world.trace.emit(Invoked(self._session, course.number, course.operation, course.began_ns))

    async def _ask(self, course: PendingCall) -> tuple[str, Reply]:
        """One question and its reply: the request, or after a failure first the question whether it has been executed (`Check`)."""
        number, answered = course.number, course.answered
        if answered is not None:
            course.answered = None
            return answered
        waiting: asyncio.Future[tuple[str, Reply]] = self._loop.create_future()
        course.waiting = waiting
        self._deadlines.begin(number)
        if course.check:
            self._world.network.send(course.server, CheckOperation(self._session, number))
        else:
            request = self._request(course)
            if not self._alone:
                request.seen_ns, request.leg = self._seen_ns, course.leg
                course.resolved_at[course.group] = course.resolved_ns
                if any(start is not TOP for start in course.starts):
                    request.starts, request.moves = course.starts, course.moves
            self._world.network.send(course.server, request)
        try:
            return await waiting
        finally:
            self._deadlines.end(number)

    def _request(self, course: PendingCall) -> Request:
        operation = course.operation
        if isinstance(operation, OpenSession):
            if not course.copies or self._mutations.opened_by_fresh_stamps:
                operation = course.operation = OpenSession(operation.since, self._seen_ns)
        elif type(operation) in WRITES:
            routes = self._groups[course.group]
            routes.sent = max(routes.sent, course.number)
        course.copies += 1
        return Request(self._session, course.number, next(iter(self._open)), operation)

    def _report(self, course: PendingCall, answer: Answer | None) -> None:
        now_ns = self._world.clock.monotonic_ns()
        self._world.trace.emit(called(self._session, course, answer, now_ns))
