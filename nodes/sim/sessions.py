"""Sessions of the simulated coordination service, which its leader alone opens, resumes and expires."""

from __future__ import annotations

from collections.abc import Callable

from nodes.coordination import operations as ops
from nodes.coordination.operations import OperationResult
from nodes.coordination.tree import OPERATOR
from nodes.sim.conditions import SESSION_MAX_MS
from nodes.sim.connection import SimConnection
from nodes.sim.loop import Loop
from nodes.sim.quorum import MILLISECOND, EnsembleMember, LogEntry, Quorum
from nodes.trace.present import UNKNOWN, Cause

SESSION_MIN_MS = 200

Attached = Callable[[int, int], None]
"""Callback with the session's number and its negotiated time-out in milliseconds; the number is 0 when the session has expired."""


class SimSessions:
    """Which connection each session has, and when the next one expires."""

    def __init__(self, loop: Loop, quorum: Quorum, blame: Callable[[str], Cause]):
        self.max_ms = SESSION_MAX_MS
        """Longest time-out that new sessions negotiate; may be changed at any time."""
        self._loop = loop
        self._quorum = quorum
        self._blame = blame
        self.owners: dict[int, SimConnection] = {}
        """The connection on which the leader accepts a session's writes. Writes on earlier ones are refused, as in ZooKeeper."""
        self._due_ms = -1

    @property
    def now_ms(self) -> int:
        return self._loop.now_ns // MILLISECOND

    def attach(
        self, connection: SimConnection, session: int, timeout_ms: int, zxid: int, answer: Attached
    ) -> None:
        """Opens or resumes a session. A server whose state is older than the client has seen refuses the client."""
        member = connection.member
        if not member.serving or zxid > member.tree.zxid:
            connection.owner.turned_away(connection)
        elif session:
            self.to_leader(member, lambda: self._resume(connection, session, answer))
        else:
            timeout_ms = min(max(timeout_ms, SESSION_MIN_MS), self.max_ms)
            self.to_leader(member, lambda: self._open(connection, timeout_ms, answer))

    def _open(self, connection: SimConnection, timeout_ms: int, answer: Attached) -> None:
        member = connection.member

        def opened(result: OperationResult) -> None:
            session = member.tree.next_session - 1
            self.owners[session] = connection
            self._attached(connection, session)
            answer(session, timeout_ms)

        entry = LogEntry(OPERATOR, ops.CreateSession(timeout_ms), self.now_ms, member, opened)
        self._quorum.propose(entry)

    def _resume(self, connection: SimConnection, session: int, answer: Attached) -> None:
        """Resumes a session at the leader, which alone knows the live sessions."""
        leader, member = self._quorum.leader, connection.member
        assert leader is not None
        alive = leader.tree.touch(session, self.now_ms)
        timeout_ms = leader.tree.sessions.open[session].timeout_ms if alive else 0
        before = self.owners.get(session)
        if alive:
            self.owners[session] = connection
            if before is not None and before is not connection:
                before.close()

        def resumed() -> None:
            if alive:
                self._attached(connection, session)
            answer(session if alive else 0, timeout_ms)

        self._quorum.contact.to(leader, member, resumed)

    def _attached(self, connection: SimConnection, session: int) -> None:
        connection.session = session
        if connection.open:
            connection.member.connections[session] = connection
        self._arm()

    def to_leader(self, member: EnsembleMember, step: Callable[[], None]) -> None:
        """Takes a step at the leader. Without one, connections are closed, so that no request waits."""
        if self._quorum.leader is not None:
            self._quorum.contact.to(member, self._quorum.leader, step)

    def touch(self, connection: SimConnection) -> None:
        """Notes a message of the client at the leader, unless the follower that received it is cut off."""
        leader, member = self._quorum.leader, connection.member
        if leader is member or (leader is not None and self._quorum.reaches_leader(member)):
            leader.tree.touch(connection.session, self.now_ms)

    def on_leader(self, leader: EnsembleMember) -> None:
        """A new leader restarts every session's time-out."""
        leader.tree.sessions.touch_all(self.now_ms)
        self._arm()

    def _arm(self) -> None:
        due_ms = None if self._quorum.leader is None else self._quorum.leader.tree.sessions.next_due_ms()
        if due_ms is None or self._due_ms >= 0:
            return
        self._due_ms = max(due_ms, self.now_ms + 1)
        self._loop.at(self._due_ms * MILLISECOND, self._expire_due)

    def _expire_due(self) -> None:
        """Expires overdue sessions. The leader decides, and needs a majority."""
        self._due_ms = -1
        if self._quorum.leader is not None:
            sessions = self._quorum.leader.tree.sessions
            for session in sessions.due(self.now_ms):
                sessions.suspend(session)
                owner = self.owners.get(session)
                self._loop.cause = UNKNOWN if owner is None else self._blame(owner.owner.name)
                self._quorum.propose(LogEntry(session, ops.RemoveSession(expired=True), self.now_ms))
        self._arm()
