"""The coordination service of a simulated cluster: three servers as in ZooKeeper, their clients' connections, sessions and the global view's events.

`coordination` names the whole service, `coordination1` to `coordination3` its servers: links between a server and the service are those to all three.
Reads are answered by the server that a client is connected to, from its possibly outdated tree; writes and syncs go through the leader. Settings that
may be changed at any time: `sessions.max_ms` (bound of the time-outs that new sessions negotiate), and `quorum.sync_limit_ns` (time for which a
follower that is cut off from the leader continues to answer reads).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from nodes.coordination import operations as ops
from nodes.coordination.codes import Code
from nodes.coordination.operations import OperationResult, TreeChange
from nodes.coordination.tree import OPERATOR, ZnodeTree
from nodes.sim.connection import COORDINATION, Reply, SimConnection
from nodes.sim.links import Links
from nodes.sim.loop import Loop
from nodes.sim.quorum import EnsembleMember, LogEntry, NoQuorum, Quorum
from nodes.sim.sessions import SimSessions
from nodes.trace.base import Event
from nodes.trace.observer import Observer
from nodes.trace.present import UNKNOWN, Cause

if TYPE_CHECKING:
    from nodes.sim.coordination import SimCoordination

MEMBERS = ("coordination1", "coordination2", "coordination3")


class SimEnsemble:
    """The service itself. `emit` receives the events of the global view, as changes are committed."""

    def __init__(
        self,
        loop: Loop,
        links: Links,
        emit: Callable[[Event], None],
        blame: Callable[[str], Cause] = lambda server: UNKNOWN,
    ):
        """`blame`: the fault that kept a server from sending pings, which is the last one with this target."""
        self.loop = loop
        self.links = links
        self.observer = Observer()
        self.connections: list[SimConnection] = []
        self._emit = emit
        self._first = False
        self.quorum = Quorum(
            loop,
            links,
            list(MEMBERS),
            self._deliver,
            self._stopped_serving,
            lambda leader: self.sessions.on_leader(leader),
        )
        self.sessions = SimSessions(loop, self.quorum, blame)
        for member in self.members:
            member.tree.listeners.append(lambda change, member=member: self._reported(member.tree, change))  # type: ignore[misc]

    @property
    def members(self) -> list[EnsembleMember]:
        return list(self.quorum.members.values())

    @property
    def leader(self) -> EnsembleMember | None:
        return self.quorum.leader

    @property
    def tree(self) -> ZnodeTree:
        """The newest tree."""
        return max(self.members, key=lambda member: member.applied).tree

    # --- connections -----------------------------------------------------------------------------------------------

    def connect(self, owner: SimCoordination) -> SimConnection | None:
        """Connects to a server drawn by the seed, and avoids those that the client avoids if there is another; None when no server listens."""
        listening = [member for member in self.members if member.serving]
        others = [member for member in listening if member.name not in owner.avoids] or listening
        if not others:
            return None
        member = others[int(self.links.rng.random() * len(others))]
        connection = SimConnection(self, owner, member)
        self.connections.append(connection)
        return connection

    def move(self, server: str, to: str) -> None:
        """For directed schedules: the server's session moves to this server of the ensemble, within a few milliseconds."""
        for connection in self.connections:
            if connection.owner.name == server and connection.member.name != to:
                connection.owner.avoids = [member.name for member in self.members if member.name != to]
                connection.owner.disconnected()
                return

    def member_of(self, server: str) -> str:
        """The ensemble's server to which this server is connected; empty for none."""
        names = [each.member.name for each in self.connections if each.owner.name == server]
        return names[-1] if names else ""

    def closed(self, connection: SimConnection) -> None:
        member, session = connection.member, connection.session
        if connection in self.connections:
            self.connections.remove(connection)
        if member.connections.get(session) is connection:
            del member.connections[session]
            member.tree.disconnected(session)

    def _stopped_serving(self, member: EnsembleMember) -> None:
        for connection in [each for each in self.connections if each.member is member]:
            connection.owner.turned_away(connection)

    def links_changed(self) -> None:
        """Some link was cut, mended or slowed."""
        self.quorum.links_changed()
        for connection in list(self.connections):
            connection.go_on()

    # --- operations ------------------------------------------------------------------------------------------------

    def read(self, connection: SimConnection, operation: ops.Operation) -> OperationResult:
        return connection.member.tree.submit(connection.session, operation, self.sessions.now_ms)

    def write(self, connection: SimConnection, operation: ops.Operation, applied: Reply) -> None:
        """Passes a write on to the leader; the server answers when it has applied it."""
        member, session = connection.member, connection.session

        def order() -> None:
            if self.sessions.owners.get(session) is connection:
                self.quorum.propose(LogEntry(session, operation, self.sessions.now_ms, member, applied))

        self.sessions.to_leader(member, order)

    def submit(self, session: int, operation: ops.Operation) -> OperationResult:
        """Commits a change now, without network latency, for faults and directed schedules. Raises NoQuorum."""
        results: list[OperationResult] = []
        self.quorum.commit_now(
            LogEntry(session, operation, self.sessions.now_ms, self.leader, results.append)
        )
        return results[0] if results else OperationResult(Code.SESSION_EXPIRED)

    def land(self, session: int, operation: ops.Operation, reply: Reply) -> None:
        """Delivers a write that a directed schedule held back; without a leader it is lost."""
        try:
            reply(self.submit(session, operation))
        except NoQuorum:
            pass

    def _deliver(self, member: EnsembleMember, entry: LogEntry, first: bool) -> None:
        """Delivers an entry. Notifications of watches leave before the answer."""
        self._first = first
        result = member.tree.submit(entry.session, entry.operation, entry.at_ms)
        for event in result.events:
            connection = member.connections.get(event.session)
            if connection is not None:
                connection.owner.watch_fired(connection, event)
        if entry.reply is not None and entry.origin is member:
            entry.reply(result)
        if isinstance(entry.operation, ops.RemoveSession):
            self._ended(member, entry.session, entry.operation.expired)

    def _ended(self, member: EnsembleMember, session: int, expired: bool) -> None:
        self.sessions.owners.pop(session, None)
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
            self.submit(OPERATOR, ops.Multi([ops.DeleteZnode(path) for path in paths]))
        return owner

    def expire(self, session: int) -> None:
        """Expires a session now: its nodes are removed, its connection is closed. Raises NoQuorum."""
        self.submit(session, ops.RemoveSession(expired=True))

    # --- life of the service ---------------------------------------------------------------------------------------

    def crash(self, name: str = COORDINATION) -> None:
        """Crashes all of the service, or one server. Log, tree and sessions survive; its connections break."""
        for member in self._named(name):
            self.quorum.crash(member)

    def restart(self, name: str = COORDINATION) -> None:
        for member in self._named(name):
            self.quorum.restart(member)

    def runs(self, name: str) -> bool:
        return any(member.up for member in self._named(name))

    def runs_whole(self, name: str) -> bool:
        return all(member.up for member in self._named(name))

    def _named(self, name: str) -> list[EnsembleMember]:
        return self.members if name == COORDINATION else [self.quorum.members[name]]

    # --- observation -----------------------------------------------------------------------------------------------

    def _reported(self, tree: ZnodeTree, change: TreeChange) -> None:
        """Reports a change once, when the first server applies it."""
        if not self._first:
            return
        for touched in change.touched:
            node = tree.nodes.get(touched.path)
            data = None if touched.kind == "deleted" or node is None else node.data
            for event in self.observer.changed(touched.path, data, node.owner if node else 0):
                self._emit(event)
        if change.op in ("expire", "close"):
            reason = "expired" if change.op == "expire" else "closed"
            for event in self.observer.session_ended(change.session, reason):
                self._emit(event)


__all__ = ["COORDINATION", "MEMBERS", "NoQuorum", "SimEnsemble"]
