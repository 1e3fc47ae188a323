"""One server's session with the simulated coordination service, with kazoo's behaviour.

Pings are sent while the process runs. After two thirds of the time-out without a message the connection is given up: it is "suspended", and
open calls end with ConnectionLoss, their outcome unknown. Then another server is tried. A session that has expired meanwhile is reported as
"lost", and a new one is opened.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from nodes.coordination import operations as ops
from nodes.coordination.codes import Code
from nodes.coordination.operations import OperationResult, WatchEvent
from nodes.sim.clock import Rate
from nodes.sim.connection import SimConnection
from nodes.sim.ensemble import SimEnsemble
from nodes.sim.loop import Machine
from nodes.sim.quorum import MILLISECOND
from nodes.states import SessionState
from nodes.trace.present import UNKNOWN
from nodes.world import (
    BadVersion,
    Change,
    CheckNode,
    ConnectionLoss,
    CoordinationError,
    CreateNode,
    DeleteNode,
    NodeExists,
    NodeStat,
    NoNode,
    NotEmpty,
    SessionExpired,
    SetNode,
)

RETRY_NS = 100 * MILLISECOND
ERRORS: dict[int, type[CoordinationError]] = {
    Code.NO_NODE: NoNode,
    Code.NODE_EXISTS: NodeExists,
    Code.BAD_VERSION: BadVersion,
    Code.NOT_EMPTY: NotEmpty,
    Code.SESSION_EXPIRED: SessionExpired,
}
WRITTEN: dict[type, Callable[[Any], ops.Operation]] = {
    CreateNode: lambda change: ops.CreateZnode(change.path, change.data, change.ephemeral),
    SetNode: lambda change: ops.SetData(change.path, change.data, change.version),
    DeleteNode: lambda change: ops.DeleteZnode(change.path, change.version),
    CheckNode: lambda change: ops.CheckVersion(change.path, change.version),
}


class HeldWrites:
    """Multi writes of one server that a directed schedule holds back."""

    def __init__(self, match: Callable[[list[Change]], bool]):
        self.match = match
        self.held: list[Callable[[], None]] = []
        self.over = False

    def release(self) -> None:
        """Delivers the writes now, whatever became of their connection."""
        self.over = True
        for land in self.held:
            land()


class SimCoordination:
    """`Coordination` of nodes/world.py on the shared tree.

    Many methods: it is `Coordination`, and one end of a connection.
    """

    def __init__(
        self, ensemble: SimEnsemble, machine: Machine, name: str, timeout_ns: int, rate: Rate | None = None
    ):
        self.name = name
        self.state: SessionState = "suspended"
        self.session = 0
        self.session_timeout_ns = timeout_ns
        """The requested, then the negotiated session time-out."""
        self.avoids: list[str] = []
        """Servers of the ensemble that did not answer last time."""
        self._asked_ns = timeout_ns
        self._zxid = 0
        """The newest state that this client has seen: it accepts no server with an older one."""
        self._rate = rate or Rate(ensemble.loop)
        self.holds_watches = False
        self.held_writes: list[HeldWrites] = []
        self._held_watches: list[WatchEvent] = []
        self._ensemble = ensemble
        self._machine = machine
        self._on_state: Callable[[SessionState], None] = lambda state: None
        self._begun_by = UNKNOWN
        """The cause of the server's request for a session, which a later automatic connection inherits."""
        self._on_close: Callable[[], list[Change]] = list
        self._calls: dict[int, asyncio.Future[OperationResult]] = {}
        self._numbered = 0
        self._watches: dict[tuple[str, str], list[Callable[[str], None]]] = {}
        self._connection: SimConnection | None = None
        self._received_ns = 0
        self._connect()
        self._tick()

    # --- connection ------------------------------------------------------------------------------------------------

    @property
    def _now_ns(self) -> int:
        return self._ensemble.loop.now_ns

    def _connect(self) -> None:
        if self._machine.dead or self._connection is not None:
            return
        connection = None if self._machine.paused else self._ensemble.connect(self)
        if connection is None:
            self._ensemble.loop.at(self._now_ns + RETRY_NS, self._connect)
            return
        self._connection = connection
        self._received_ns = self._now_ns
        timeout_ms, session, zxid = self._asked_ns // MILLISECOND, self.session, self._zxid

        def answer(number: int, negotiated_ms: int) -> None:
            self._zxid = max(self._zxid, connection.member.tree.zxid)
            connection.to_server(lambda: self._attached(connection, number, negotiated_ms))

        def opened() -> None:
            if connection.is_two_way:
                self._ensemble.sessions.attach(connection, session, timeout_ms, zxid, answer)

        connection.to_service(opened)

    def _attached(self, connection: SimConnection, number: int, timeout_ms: int) -> None:
        if connection is not self._connection:
            return
        self._received_ns = self._now_ns
        self.avoids = []
        if number == 0:
            self._forget(connection)
            self.session = 0
            self._report("lost")
            self._connect()
            return
        self.session, self.session_timeout_ns = number, timeout_ms * MILLISECOND
        self._report("connected")

    def _report(self, state: SessionState) -> None:
        self._machine.call(self._become, state)

    def _become(self, state: SessionState) -> None:
        if state != self.state:
            self.state = state
            self._caused()
            self._on_state(state)

    def _lose(self, reply: asyncio.Future[OperationResult]) -> None:
        self._caused()
        if not reply.done():
            reply.set_exception(
                ConnectionLoss("the connection to the coordination service is lost: the outcome is unknown")
            )

    def _caused(self) -> None:
        """What a time-out brings about follows from the request for the session."""
        loop = self._machine.loop
        if loop.cause == UNKNOWN:
            loop.cause = loop.began = self._begun_by

    def _forget(self, connection: SimConnection) -> None:
        self._connection = None
        connection.close()

    def turned_away(self, connection: SimConnection) -> None:
        """The ensemble's server closes the connection: it serves no client now, or its state is older than this client has seen."""
        if connection is self._connection:
            self.avoids = [connection.member.name]
            self.disconnected()

    def disconnected(self) -> None:
        """The connection is lost: open requests have an unknown outcome."""
        if self._connection is None:
            return
        self._forget(self._connection)
        calls, self._calls = self._calls, {}
        for reply in calls.values():
            self._machine.call(self._lose, reply)
        self._watches.clear()
        self._report("suspended")
        delay_ns = int(self._ensemble.links.rng.random() * RETRY_NS)
        self._ensemble.loop.at(self._now_ns + delay_ns, self._connect)

    def _tick(self) -> None:
        """Sends pings and checks for messages; it is frozen with the process."""
        if self._machine.dead:
            return
        timeout_ns = self._rate.true_ns(self.session_timeout_ns)
        self._ensemble.loop.at(self._now_ns + timeout_ns // 6, self._tick)
        connection = self._connection
        if self._machine.paused or connection is None:
            return
        patience_ns = timeout_ns * 2 // 3 if self.state == "connected" else timeout_ns // 3
        if self._now_ns - self._received_ns > patience_ns:
            self.avoids = [connection.member.name]
            self.disconnected()
            return
        if connection.session:
            connection.to_service(lambda: self._pinged(connection))

    def _pinged(self, connection: SimConnection) -> None:
        self._ensemble.sessions.touch(connection)
        connection.to_server(self._ponged)

    def _ponged(self) -> None:
        if not self._machine.paused:
            self._received_ns = self._now_ns

    def resumed(self) -> None:
        """After a pause: messages that arrived meanwhile are read first."""
        connection = self._connection
        if connection is not None and self.session not in connection.member.tree.sessions.open:
            self.disconnected()
        else:
            self._received_ns = max(self._received_ns, self._now_ns - self.session_timeout_ns // 2)

    def crashed(self) -> None:
        """The operating system closes the connection of a dead process; the session lives on until its time-out."""
        if self._connection is not None:
            self._forget(self._connection)

    def stopped(self) -> None:
        """A graceful stop also closes the session."""
        connection = self._connection
        if connection is not None and connection.session:
            changes = self._on_close()
            if changes:
                self._send(connection, multi_of(changes), lambda result: None)
            self._send(connection, ops.RemoveSession(), lambda result: connection.close())
            self._connection = None

    # --- watches ---------------------------------------------------------------------------------------------------

    def watch_fired(self, connection: SimConnection, event: WatchEvent) -> None:
        connection.to_server(lambda: self._on_watch(event))

    def _on_watch(self, event: WatchEvent) -> None:
        if self.holds_watches:
            self._held_watches.append(event)
            return
        kinds = ("child",) if event.type == 4 else ("data",) if event.type != 2 else ("data", "child")
        for kind in kinds:
            for step in self._watches.pop((kind, event.path), ()):
                self._machine.call(step, event.path)

    def release_watches(self) -> None:
        self.holds_watches = False
        held, self._held_watches = self._held_watches, []
        for event in held:
            self._on_watch(event)

    # --- calls -----------------------------------------------------------------------------------------------------

    def on_state(self, step: Callable[[SessionState], None]) -> None:
        self._begun_by = self._machine.loop.cause
        self._on_state = step

    def on_close(self, step: Callable[[], list[Change]]) -> None:
        self._on_close = step

    async def _call(self, operation: ops.Operation, changes: list[Change] | None = None) -> OperationResult:
        connection = self._connection
        if connection is None or not connection.session or self.state != "connected":
            raise ConnectionLoss("there is no connection to the coordination service")
        self._numbered += 1
        number, session = self._numbered, connection.session
        reply: asyncio.Future[OperationResult] = asyncio.Future(loop=self._ensemble.loop)
        self._calls[number] = reply

        def land(result: OperationResult) -> None:
            if connection.open:
                connection.to_server(lambda: self._answered(number, result))

        for held in self.held_writes if changes is not None else ():
            if not held.over and held.match(changes or []):
                held.held.append(lambda: self._ensemble.land(session, operation, land))
                break
        else:
            self._send(connection, operation, land)
        try:
            return await reply
        finally:
            self._calls.pop(number, None)

    def _send(
        self, connection: SimConnection, operation: ops.Operation, reply: Callable[[OperationResult], None]
    ) -> None:
        connection.to_service(lambda: connection.request(operation, reply))

    def _answered(self, number: int, result: OperationResult) -> None:
        self._received_ns = self._now_ns
        self._zxid = max(self._zxid, result.zxid)
        reply = self._calls.pop(number, None)
        if reply is not None:
            self._machine.call(_settle, reply, result)

    async def _asked(self, operation: ops.Operation, changes: list[Change] | None = None) -> OperationResult:
        result = await self._call(operation, changes)
        if result.code:
            raise ERRORS.get(result.code, CoordinationError)(
                f"{getattr(operation, 'path', 'multi')}: {Code(result.code).name}"
            )
        return result

    def _watch(self, kind: str, path: str, step: Callable[[str], None] | None) -> bool:
        if step is None:
            return False
        self._watches.setdefault((kind, path), []).append(step)
        return True

    def _unwatch(self, kind: str, path: str, step: Callable[[str], None]) -> None:
        """A failed request leaves no watch."""
        waiting = self._watches.get((kind, path), [])
        if step in waiting:
            waiting.remove(step)

    async def get(self, path: str, watch: Callable[[str], None] | None = None) -> tuple[bytes, NodeStat]:
        try:
            result = await self._asked(ops.Get(path, self._watch("data", path, watch)))
        except NoNode:
            if watch is not None:
                self._unwatch("data", path, watch)
            raise
        return result.data, _stat(result)

    async def exists(self, path: str, watch: Callable[[str], None] | None = None) -> NodeStat | None:
        try:
            return _stat(await self._asked(ops.Exists(path, self._watch("data", path, watch))))
        except NoNode:
            return None

    async def children(self, path: str, watch: Callable[[str], None] | None = None) -> list[str]:
        result = await self._asked(ops.GetChildren(path, self._watch("child", path, watch)))
        return result.children

    async def sync(self, path: str) -> None:
        await self._asked(ops.Sync(path))

    async def multi(self, changes: list[Change]) -> list[NodeStat | None]:
        result = await self._asked(multi_of(changes), changes)
        return [_stat(each) if each.stat is not None else None for each in result.results]


def multi_of(changes: list[Change]) -> ops.Multi:
    return ops.Multi([WRITTEN[type(change)](change) for change in changes])  # type: ignore[misc]


def _stat(result: OperationResult) -> NodeStat:
    stat = result.stat
    assert stat is not None
    return NodeStat(stat.version, stat.ephemeral_owner, stat.czxid, stat.mzxid)


def _settle(reply: asyncio.Future[OperationResult], result: OperationResult) -> None:
    if not reply.done():
        reply.set_result(result)
