"""The smart client (CFS §4.4, Fig. 6): the application sees one call, one result, applied once, whoever is active.

Its session is opened by a log record; each request carries the lowest number that is still unanswered (safety rule 10).
"""

from __future__ import annotations

import asyncio

from nodes.client.retry import pause_ns
from nodes.client.routing import Routes
from nodes.config import MILLISECOND, SECOND, ClusterConfig
from nodes.errors import FsError
from nodes.metadata.operations import WRITES, OpenSession, Operation
from nodes.metadata.sessions import OPEN_MAX
from nodes.trace.events import Called, Invoked
from nodes.wire.messages import Answer, Checked, CheckOperation, Message, Refused, Request, ViewCopy
from nodes.world import World

LONG_NS = 1 * SECOND

Reply = Answer | Refused | Checked | None


class SmartClient:
    """One client session on a world of its own. `call` may run many times at once."""

    def __init__(self, world: World, cluster: ClusterConfig, session: str):
        self._world = world
        self._session = session
        self._loop = asyncio.get_running_loop()
        self._timing = cluster.timing
        self._routes = Routes(cluster.groups[0].members)
        self._next = 0
        self._open: dict[int, asyncio.Future[tuple[str, Reply]] | None] = {}
        self._waiting_for_room: list[asyncio.Future[None]] = []
        self._opening: asyncio.Future[None] | None = None
        world.network.receive(self.on_message)

    @property
    def session(self) -> str:
        return self._session

    @property
    def believed_active(self) -> str:
        return self._routes.believed

    # --- steps ----------------------------------------------------------------------------------------------------

    def on_message(self, peer: str, message: Message) -> None:
        if isinstance(message, Answer | Refused | Checked):
            waiting = self._open.get(message.number)
            if waiting is not None and not waiting.done():
                waiting.set_result((peer, message))
        elif isinstance(message, ViewCopy):
            self._routes.learn(message.active)

    def _timed_out(self, number: int) -> None:
        waiting = self._open.get(number)
        if waiting is not None and not waiting.done():
            waiting.set_result(("", None))

    # --- calls ----------------------------------------------------------------------------------------------------

    async def call(self, operation: Operation) -> Answer:
        """Runs one operation to its end. Raises FsError; `ETIMEDOUT` means that its outcome is unknown."""
        if self._opening is None:
            self._opening = asyncio.ensure_future(self._open_session())
        if not self._opening.done():
            await self._opening
        return await self._run(operation)

    async def _open_session(self) -> None:
        await self._run(OpenSession())

    async def _run(self, operation: Operation) -> Answer:
        while self._open and self._next + 1 - next(iter(self._open)) >= OPEN_MAX:
            room = self._loop.create_future()
            self._waiting_for_room.append(room)
            await room
        self._next += 1
        number = self._next
        self._open[number] = None
        began_ns = self._world.clock.monotonic_ns()
        server, answer, tries = "", None, 0
        try:
            server, answer, tries = await self._until_answered(number, operation, began_ns)
        finally:
            del self._open[number]
            self._make_room()
        self._tell(number, operation, began_ns, server, answer, tries)
        if answer is None:
            raise FsError(
                "ETIMEDOUT", f"no answer within {self._timing.call_deadline_ms} ms: the outcome is unknown"
            )
        if answer.error:
            name, _, explanation = answer.error.partition(": ")
            raise FsError(name, explanation)
        return answer

    def _make_room(self) -> None:
        """Lets calls begin that waited because an older one is still open."""
        waiting, self._waiting_for_room = self._waiting_for_room, []
        for room in waiting:
            if not room.done():
                room.set_result(None)

    async def _until_answered(
        self, number: int, operation: Operation, began_ns: int
    ) -> tuple[str, Answer | None, int]:
        deadline = began_ns + self._timing.call_deadline_ms * MILLISECOND
        server, tries, told, check = self._routes.believed, 0, False, False
        while True:
            tries += 1
            peer, reply = await self._ask(server, number, operation, check)
            if isinstance(reply, Answer) and self._routes.accept(peer, reply.epoch):
                return peer, reply, tries
            now = self._world.clock.monotonic_ns()
            if now >= deadline:
                return server, None, tries
            if isinstance(reply, Checked):
                check = False
                continue
            if not told and now - began_ns > LONG_NS:
                told = True
                self._world.trace.emit(Invoked(self._session, number, operation, began_ns))
            hint = reply.active if isinstance(reply, Refused) else ""
            server = self._next_server(server, hint)
            check = type(operation) in WRITES
            if reply is not None:
                await self._world.clock.sleep(pause_ns(tries, self._world.rng))

    def _next_server(self, failed: str, hint: str) -> str:
        """Follows whoever has been answered meanwhile, else the server that was named, else the next in order."""
        believed = self._routes.believed
        if believed != failed and not hint:
            self._routes.believed = self._routes.after(believed, "")
            return believed
        following = self._routes.after(failed, hint)
        self._routes.believed = following
        return following

    async def _ask(self, server: str, number: int, operation: Operation, check: bool) -> tuple[str, Reply]:
        """One question and its reply: the request, or after a failure first whether it has been executed (`Check`)."""
        waiting: asyncio.Future[tuple[str, Reply]] = self._loop.create_future()
        self._open[number] = waiting
        timer = self._world.clock.call_later(
            self._timing.client_timeout_ms * MILLISECOND, self._timed_out, number
        )
        if check:
            self._world.network.send(server, CheckOperation(self._session, number))
        else:
            lowest = next(iter(self._open))
            self._world.network.send(server, Request(self._session, number, lowest, operation))
        try:
            return await waiting
        finally:
            timer.cancel()

    def _tell(
        self, number: int, operation: Operation, began_ns: int, server: str, answer: Answer | None, tries: int
    ) -> None:
        now = self._world.clock.monotonic_ns()
        result, error, epoch, sn, place = None, "ETIMEDOUT", 0, 0, 0
        if answer is not None:
            result, error = answer.result, answer.error.partition(":")[0]
            epoch, sn, place = answer.epoch, answer.sn, answer.place
        self._world.trace.emit(
            Called(
                self._session,
                number,
                operation,
                began_ns,
                now,
                result,
                error,
                server,
                epoch,
                sn,
                place,
                tries,
            )
        )
