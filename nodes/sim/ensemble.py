"""The coordination service of a simulated cluster: three servers as in ZooKeeper, their clients' connections, sessions and what the tree says.

`coordination` names the whole service, `coordination1` to `coordination3` its servers: links between a server and the service are those to all
three. Reads are answered by the server that a client is connected to, as old as its tree is; writes and syncs go through the leader.
Settings, to be changed at any time: `min_session_ms`, `max_session_ms` (bounds of the time-outs that new sessions negotiate), and
`quorum.sync_limit_ns` (how long a follower that is cut off from the leader goes on answering reads).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from nodes.coordination import operations as ops
from nodes.coordination.codes import Code
from nodes.coordination.operations import Result, Told, WatchEvent
from nodes.coordination.tree import OPERATOR, Tree
from nodes.sim.conditions import SESSION_MAX_MS
from nodes.sim.connection import COORDINATION, Connection, Reply
from nodes.sim.links import Links
from nodes.sim.loop import Loop
from nodes.sim.quorum import MILLISECOND, Entry, Member, NoQuorum, Quorum
from nodes.trace.base import Event
from nodes.trace.observer import Observer
from nodes.trace.present import UNKNOWN, Cause

if TYPE_CHECKING:
    from nodes.sim.coordination import SimCoordination

MEMBERS = ("coordination1", "coordination2", "coordination3")

Attached = Callable[[int, int], None]
"""Called with the session's number and its negotiated time-out in milliseconds; the number is 0 when the session has expired."""


class Ensemble:
    """The service itself. `emit` is given the events of the global view, as changes are committed."""

    def __init__(self, loop: Loop, links: Links, emit: Callable[[Event], None]):
        self.loop = loop
        self.links = links
        self.observer = Observer()
        self.min_session_ms = 200
        self.max_session_ms = SESSION_MAX_MS
        self.connections: list[Connection] = []
        self._owners: dict[int, Connection] = {}
        """The connection on which the leader takes a session's writes; those on earlier ones are refused, as ZooKeeper does."""
        self._emit = emit
        self.blame: Callable[[str], Cause] = lambda server: UNKNOWN
        """What kept a server from saying that it lives: the last fault that struck it."""
        self._due_ms = -1
        self._first = False
        self.quorum = Quorum(loop, links, list(MEMBERS), self._deliver, self._stopped_serving)
        self.quorum.on_leader = self._on_leader
        for member in self.members:
            member.tree.listeners.append(lambda told, member=member: self._told(member.tree, told))  # type: ignore[misc]

    @property
    def now_ms(self) -> int:
        return self.loop.now_ns // MILLISECOND

    @property
    def members(self) -> list[Member]:
        return list(self.quorum.members.values())

    @property
    def leader(self) -> Member | None:
        return self.quorum.leader

    @property
    def tree(self) -> Tree:
        """The newest."""
        return max(self.members, key=lambda member: member.applied).tree

    # --- connections -----------------------------------------------------------------------------------------------

    def connect(self, owner: SimCoordination) -> Connection | None:
        """To a server drawn by the seed, to none that the client avoids if there is another; None when nobody listens."""
        listening = [member for member in self.members if member.serving]
        others = [member for member in listening if member.name not in owner.avoids] or listening
        if not others:
            return None
        member = others[int(self.links.rng.random() * len(others))]
        connection = Connection(self, owner, member)
        self.connections.append(connection)
        return connection

    def move(self, server: str, to: str) -> None:
        """For directed schedules: the server's session goes on at this server of the ensemble, within a few milliseconds."""
        for connection in self.connections:
            if connection.owner.name == server and connection.member.name != to:
                connection.owner.avoids = [member.name for member in self.members if member.name != to]
                connection.owner.disconnected()
                return

    def member_of(self, server: str) -> str:
        """The ensemble's server that this server is connected to; empty for none."""
        names = [each.member.name for each in self.connections if each.owner.name == server]
        return names[-1] if names else ""

    def closed(self, connection: Connection) -> None:
        member, session = connection.member, connection.session
        if connection in self.connections:
            self.connections.remove(connection)
        if member.connections.get(session) is connection:
            del member.connections[session]
            member.tree.disconnected(session)

    def _stopped_serving(self, member: Member) -> None:
        for connection in [each for each in self.connections if each.member is member]:
            connection.owner.turned_away(connection)

    def attach(
        self, connection: Connection, session: int, timeout_ms: int, zxid: int, answer: Attached
    ) -> None:
        """Opens a session, or goes on with one. A server older than what the client has seen sends it away."""
        member = connection.member
        if not member.serving or zxid > member.tree.zxid:
            connection.owner.turned_away(connection)
        elif session:
            self._to_leader(member, lambda: self._resume(connection, session, answer))
        else:
            timeout_ms = min(max(timeout_ms, self.min_session_ms), self.max_session_ms)
            self._to_leader(member, lambda: self._open(connection, timeout_ms, answer))

    def _open(self, connection: Connection, timeout_ms: int, answer: Attached) -> None:
        member = connection.member

        def opened(result: Result) -> None:
            session = member.tree.next_session - 1
            self._owners[session] = connection
            self._attached(connection, session)
            answer(session, timeout_ms)

        entry = Entry(OPERATOR, ops.OpenSession(timeout_ms), self.now_ms, member, opened)
        self.quorum.propose(entry)

    def _resume(self, connection: Connection, session: int, answer: Attached) -> None:
        """At the leader, who alone knows which sessions live."""
        leader, member = self.leader, connection.member
        assert leader is not None
        alive = leader.tree.touch(session, self.now_ms)
        timeout_ms = leader.tree.sessions.open[session].timeout_ms if alive else 0
        before = self._owners.get(session)
        if alive:
            self._owners[session] = connection
            if before is not None and before is not connection:
                before.close()

        def resumed() -> None:
            if alive:
                self._attached(connection, session)
            answer(session if alive else 0, timeout_ms)

        self.quorum.to(leader, member, resumed)

    def _attached(self, connection: Connection, session: int) -> None:
        connection.session = session
        if connection.open:
            connection.member.connections[session] = connection
        self._arm()

    def _to_leader(self, member: Member, step: Callable[[], None]) -> None:
        """While nobody leads, connections are closed, so that nothing waits."""
        if self.leader is not None:
            self.quorum.to(member, self.leader, step)

    def touch(self, connection: Connection) -> None:
        """The client was heard of; the leader knows unless the follower that heard it is cut off."""
        leader, member = self.quorum.leader, connection.member
        if leader is member or (leader is not None and self.quorum.reaches_leader(member)):
            leader.tree.touch(connection.session, self.now_ms)

    def links_changed(self) -> None:
        """Something was cut, mended or made slow."""
        self.quorum.links_changed()
        for connection in list(self.connections):
            connection.go_on()

    # --- operations ------------------------------------------------------------------------------------------------

    def read(self, connection: Connection, operation: ops.Operation) -> Result:
        return connection.member.tree.submit(connection.session, operation, self.now_ms)

    def write(self, connection: Connection, operation: ops.Operation, applied: Reply) -> None:
        """The server passes it on to the leader, and answers when it has applied it."""
        member, session = connection.member, connection.session

        def order() -> None:
            if self._owners.get(session) is connection:
                self.quorum.propose(Entry(session, operation, self.now_ms, member, applied))

        self._to_leader(member, order)

    def submit(self, session: int, operation: ops.Operation) -> Result:
        """For faults and directed schedules: committed now, without a way there. Raises NoQuorum."""
        results: list[Result] = []
        self.quorum.commit_now(Entry(session, operation, self.now_ms, self.leader, results.append))
        return results[0] if results else Result(Code.SESSION_EXPIRED)

    def land(self, session: int, operation: ops.Operation, reply: Reply) -> None:
        """A write that a directed schedule held back; without a leader it is lost."""
        try:
            reply(self.submit(session, operation))
        except NoQuorum:
            pass

    def _deliver(self, member: Member, entry: Entry, first: bool) -> None:
        """Watches that fire are on their way before the answer is."""
        self._first = first
        result = member.tree.submit(entry.session, entry.operation, entry.at_ms)
        for event in result.events:
            self._tell_watch(member, event)
        if entry.reply is not None and entry.origin is member:
            entry.reply(result)
        if isinstance(entry.operation, ops.CloseSession):
            self._ended(member, entry.session, entry.operation.expired)

    def _tell_watch(self, member: Member, event: WatchEvent) -> None:
        connection = member.connections.get(event.session)
        if connection is not None:
            connection.owner.watch_fired(connection, event)

    def _ended(self, member: Member, session: int, expired: bool) -> None:
        self._owners.pop(session, None)
        connection = member.connections.pop(session, None)
        if connection is not None and expired:
            connection.to_server(connection.owner.disconnected)

    def take_lock(self, group: str) -> str:
        """Removes the lock and its owner's place in one change; returns the owner, empty when there is none. Raises NoQuorum."""
        owner = self.observer.holders.get(group, "")
        if owner:
            root = f"/cloverlab/groups/{group}"
            nodes = self.tree.nodes
            paths = [path for path in (f"{root}/lock", f"{root}/view/{owner}") if path in nodes]
            self.submit(OPERATOR, ops.Multi([ops.Delete(path) for path in paths]))
        return owner

    def session_of(self, server: str) -> int:
        return self.observer.sessions.get(server, 0)

    # --- expiry ----------------------------------------------------------------------------------------------------

    def expire(self, session: int) -> None:
        """Ends a session now: its nodes go, its connection is closed. Raises NoQuorum."""
        self.submit(session, ops.CloseSession(expired=True))

    def _on_leader(self, leader: Member) -> None:
        """A new leader lets every time-out start afresh."""
        leader.tree.sessions.touch_all(self.now_ms)
        self._arm()

    def _arm(self) -> None:
        due_ms = None if self.leader is None else self.leader.tree.sessions.next_due_ms()
        if due_ms is None or self._due_ms >= 0:
            return
        self._due_ms = max(due_ms, self.now_ms + 1)
        self.loop.at(self._due_ms * MILLISECOND, self._expire_due)

    def _expire_due(self) -> None:
        """The leader decides; it takes a majority to end a session."""
        self._due_ms = -1
        if self.leader is not None:
            sessions = self.leader.tree.sessions
            for session in sessions.due(self.now_ms):
                sessions.suspend(session)
                owner = self._owners.get(session)
                self.loop.cause = UNKNOWN if owner is None else self.blame(owner.owner.name)
                self.quorum.propose(Entry(session, ops.CloseSession(expired=True), self.now_ms))
        self._arm()

    # --- life of the service ---------------------------------------------------------------------------------------

    def crash(self, name: str = COORDINATION) -> None:
        """All of it, or one server. Log, tree and sessions outlive it; its connections break."""
        for member in self._named(name):
            self.quorum.crash(member)

    def restart(self, name: str = COORDINATION) -> None:
        for member in self._named(name):
            self.quorum.restart(member)

    def runs(self, name: str) -> bool:
        """Whether this server runs, or any of the service."""
        return any(member.up for member in self._named(name))

    def runs_whole(self, name: str) -> bool:
        return all(member.up for member in self._named(name))

    def _named(self, name: str) -> list[Member]:
        return self.members if name == COORDINATION else [self.quorum.members[name]]

    # --- observation -----------------------------------------------------------------------------------------------

    def _told(self, tree: Tree, told: Told) -> None:
        """Once per change: when the first of the servers applies it."""
        if not self._first:
            return
        for touched in told.touched:
            node = tree.nodes.get(touched.path)
            octets = None if touched.kind == "deleted" or node is None else node.data
            for event in self.observer.changed(touched.path, octets, node.owner if node else 0):
                self._emit(event)
        if told.op in ("expire", "close"):
            reason = "expired" if told.op == "expire" else "closed"
            for event in self.observer.session_ended(told.session, reason):
                self._emit(event)


__all__ = ["COORDINATION", "MEMBERS", "Ensemble", "NoQuorum"]
