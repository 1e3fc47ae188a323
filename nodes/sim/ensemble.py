"""The coordination service of a simulated cluster: the shared znode tree, its sessions' connections, its expiry."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from nodes.coordination import operations as ops
from nodes.coordination.operations import Result, Told, WatchEvent
from nodes.coordination.tree import OPERATOR, Tree
from nodes.sim.links import Link, Links
from nodes.sim.loop import Loop
from nodes.trace.base import Event
from nodes.trace.observer import Observer

if TYPE_CHECKING:
    from nodes.sim.coordination import SimCoordination

COORDINATION = "coordination"
MILLISECOND = 1_000_000
TICK_MS = 100


class Connection:
    """One TCP connection of one server: keeps its order, stalls while a direction is cut."""

    def __init__(self, ensemble: Ensemble, owner: SimCoordination):
        self._ensemble = ensemble
        self.owner = owner
        self.open = True
        self.session = 0
        self._sent = 0
        self._stalled: dict[str, dict[int, Callable[[], None]]] = {"to": {}, "from": {}}
        """What waits for a heal, by its place in the order of sending."""

    def to_service(self, step: Callable[[], None]) -> None:
        self._travel("to", self.owner.name, COORDINATION, step)

    def to_server(self, step: Callable[[], None]) -> None:
        self._travel("from", COORDINATION, self.owner.name, step)

    def _travel(self, way: str, sender: str, receiver: str, step: Callable[[], None]) -> None:
        self._sent += 1
        self._leave(way, self._ensemble.links.of(sender, receiver), self._sent, step)

    def _leave(self, way: str, link: Link, place: int, step: Callable[[], None]) -> None:
        if link.cut or self._stalled[way]:
            self._stalled[way][place] = step
            return
        loop = self._ensemble.loop
        at_ns = link.arrival_ns(loop.now_ns, self._ensemble.links.rng, ordered=True)
        loop.at(at_ns, self._arrive, way, link, place, step)

    def _arrive(self, way: str, link: Link, place: int, step: Callable[[], None]) -> None:
        if not self.open:
            return
        if link.cut:
            self._stalled[way][place] = step
        else:
            step()

    def go_on(self) -> None:
        """After a heal: what was stalled arrives."""
        for way, sender, receiver in (
            ("to", self.owner.name, COORDINATION),
            ("from", COORDINATION, self.owner.name),
        ):
            link = self._ensemble.links.of(sender, receiver)
            if not link.cut:
                stalled, self._stalled[way] = self._stalled[way], {}
                for place in sorted(stalled):
                    self._leave(way, link, place, stalled[place])

    def close(self) -> None:
        """Both ends forget it; what is on its way is lost."""
        if self.open:
            self.open = False
            self._ensemble.closed(self)


class Ensemble:
    """The service itself. `emit` is given the events of the global view."""

    def __init__(self, loop: Loop, links: Links, emit: Callable[[Event], None]):
        self.loop = loop
        self.links = links
        self.tree = Tree(tick_ms=TICK_MS)
        self.observer = Observer()
        self.up = True
        self.connections: list[Connection] = []
        self._by_session: dict[int, Connection] = {}
        self._emit = emit
        self._due_ms = -1
        self.tree.listeners.append(self._told)

    @property
    def now_ms(self) -> int:
        return self.loop.now_ns // MILLISECOND

    # --- connections -----------------------------------------------------------------------------------------------

    def connect(self, owner: SimCoordination) -> Connection:
        connection = Connection(self, owner)
        self.connections.append(connection)
        return connection

    def closed(self, connection: Connection) -> None:
        if connection in self.connections:
            self.connections.remove(connection)
        if self._by_session.get(connection.session) is connection:
            del self._by_session[connection.session]
            self.tree.disconnected(connection.session)

    def attach(self, connection: Connection, session: int, timeout_ms: int) -> int:
        """Opens a session, or goes on with one; returns its number, 0 when it has expired."""
        if session and not self.tree.touch(session, self.now_ms):
            return 0
        if not session:
            session = self.tree.open_session(timeout_ms, self.now_ms).number
        before = self._by_session.get(session)
        if before is not None and before is not connection:
            before.close()
        connection.session = session
        self._by_session[session] = connection
        self._arm()
        return session

    def heard(self, session: int) -> None:
        self.tree.touch(session, self.now_ms)

    def healed(self) -> None:
        for connection in list(self.connections):
            connection.go_on()

    # --- operations ------------------------------------------------------------------------------------------------

    def submit(self, session: int, operation: ops.Operation) -> Result:
        """Watches that fire are on their way before the answer is."""
        result = self.tree.submit(session, operation, self.now_ms)
        self._tell_watches(result.events)
        return result

    def _tell_watches(self, fired: list[WatchEvent]) -> None:
        for event in fired:
            connection = self._by_session.get(event.session)
            if connection is not None:
                connection.owner.watch_fired(connection, event)

    def take_lock(self, group: str) -> str:
        """Removes the lock and its owner's place in one change; returns the owner, empty when there is none."""
        owner = self.observer.holders.get(group, "")
        if owner:
            root = f"/cloverlab/groups/{group}"
            paths = [path for path in (f"{root}/lock", f"{root}/view/{owner}") if path in self.tree.nodes]
            self.submit(OPERATOR, ops.Multi([ops.Delete(path) for path in paths]))
        return owner

    def session_of(self, server: str) -> int:
        return self.observer.sessions.get(server, 0)

    # --- expiry ----------------------------------------------------------------------------------------------------

    def expire(self, session: int) -> None:
        """Ends a session now: its nodes go, its connection is closed."""
        self._ended(session, self.tree.close_session(session, self.now_ms, expired=True))

    def close(self, session: int) -> None:
        """The server says good-bye."""
        self._tell_watches(self.tree.close_session(session, self.now_ms).events)

    def _ended(self, session: int, result: Result) -> None:
        self._tell_watches(result.events)
        connection = self._by_session.pop(session, None)
        if connection is not None:
            connection.to_server(connection.owner.disconnected)

    def _arm(self) -> None:
        due_ms = self.tree.sessions.next_due_ms()
        if due_ms is None or self._due_ms >= 0:
            return
        self._due_ms = max(due_ms, self.now_ms + 1)
        self.loop.at(self._due_ms * MILLISECOND, self._expire_due)

    def _expire_due(self) -> None:
        self._due_ms = -1
        if self.up:
            for session, result in self.tree.expire_due(self.now_ms):
                self._ended(session, result)
        self._arm()

    # --- life of the service ---------------------------------------------------------------------------------------

    def crash(self) -> None:
        """Nodes and sessions are in its log; every connection breaks."""
        self.up = False
        for connection in list(self.connections):
            connection.owner.disconnected()

    def restart(self) -> None:
        self.up = True
        self.tree.sessions.touch_all(self.now_ms)
        self._arm()

    # --- observation -----------------------------------------------------------------------------------------------

    def _told(self, told: Told) -> None:
        for touched in told.touched:
            node = self.tree.nodes.get(touched.path)
            octets = None if touched.kind == "deleted" or node is None else node.data
            for event in self.observer.changed(touched.path, octets, node.owner if node else 0):
                self._emit(event)
        if told.op in ("expire", "close"):
            reason = "expired" if told.op == "expire" else "closed"
            for event in self.observer.session_ended(told.session, reason):
                self._emit(event)
