"""The coordination service behind its sockets: it joins tree, log and connections."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Protocol

import msgspec

from nodes.coordination import operations as ops
from nodes.coordination.acl import UNKNOWN, owned_by, resolved
from nodes.coordination.clocks import monotonic_ms, wall_ms
from nodes.coordination.codes import OperationRefused
from nodes.coordination.commits import CommitQueue
from nodes.coordination.log import Logged, TransactionLog
from nodes.coordination.requests import Connect, watch_frame
from nodes.coordination.sessions import ZooKeeperSession
from nodes.coordination.tree import OPERATOR, ZnodeTree


class Line(Protocol):
    """A client's connection."""

    @property
    def address(self) -> str: ...

    def send(self, data: bytes) -> None: ...

    def close(self) -> None: ...


SESSIONS_MAX = 4096
UNPROVEN_MAX = 64


class ZooKeeperService:
    """Every call is answered in one turn; its messages leave when the changes before it are durable."""

    def __init__(
        self, tree: ZnodeTree, log: TransactionLog, on_failure: Callable[[OSError], None], owner: str = ""
    ):
        """`owner`: the identity to which the root belongs; empty when it is everybody's."""
        self.tree = tree
        self._owner = owner
        if owner:
            tree.nodes["/"].acl = owned_by(owner)
        self._unproven: dict[Line, None] = {}
        """Connections that have not authenticated as the owner; without an owner, those before their handshake."""
        self.commits = CommitQueue(tree, log, on_failure)
        self.lines: dict[int, Line] = {}
        """The connection of each session that has one."""
        self.refused: dict[int, None] = {}

    # --- sessions -----------------------------------------------------------------------------------------

    def connect(self, asked: Connect, line: Line) -> ZooKeeperSession | None:
        """Opens or resumes a session; None means that it has expired."""
        if asked.session == 0:
            timeout_ms = self.tree.sessions.negotiate(asked.timeout_ms)
            op = ops.CreateSession(timeout_ms, secrets.token_bytes(16))
            self._submit(OPERATOR, op, wall_ms())
            session = self.tree.sessions.open[self.tree.next_session - 1]
        else:
            known = self.tree.sessions.open.get(asked.session)
            if known is None or not secrets.compare_digest(known.password, asked.password):
                return None
            session = known
            self._leave(session.number)
        session.identities = UNKNOWN
        if not self._owner:
            self._unproven.pop(line, None)
        self.tree.sessions.restart(session.number, monotonic_ms())
        self.lines[session.number] = line
        return session

    def has_room(self) -> bool:
        return len(self.tree.sessions.open) < SESSIONS_MAX

    def opened(self, line: Line) -> None:
        """A connection was accepted. Beyond `UNPROVEN_MAX` the oldest unproven one is closed."""
        if len(self._unproven) >= UNPROVEN_MAX:
            oldest = next(iter(self._unproven))
            del self._unproven[oldest]
            oldest.close()
        self._unproven[line] = None

    def closed(self, line: Line) -> None:
        self._unproven.pop(line, None)

    def authenticate(self, session: int, identity: str, line: Line) -> None:
        known = self.tree.sessions.open.get(session)
        if known is None:
            return
        known.identities |= {identity}
        if identity == self._owner:
            known.proven = True
            self._unproven.pop(line, None)

    def _leave(self, session: int) -> None:
        line = self.lines.pop(session, None)
        if line is not None:
            self.tree.disconnected(session)
            line.close()

    def disconnected(self, session: int, line: Line) -> None:
        """The connection ended. The session continues until its time-out, if it has ever authenticated as the owner of the root."""
        if self.lines.get(session) is not line:
            return
        del self.lines[session]
        self.tree.disconnected(session)
        if self._owner and not self.tree.sessions.open[session].proven:
            self.expire(session, wall_ms())

    def received(self, session: int) -> None:
        self.tree.touch(session, monotonic_ms())

    def expire_due(self) -> int | None:
        """Ends overdue sessions; returns milliseconds until the next may be due, or None."""
        now_ms, at_ms = monotonic_ms(), wall_ms()
        for number in self.tree.sessions.due(now_ms):
            self.expire(number, at_ms)
        due_ms = self.tree.sessions.next_due_ms()
        return None if due_ms is None else max(due_ms - now_ms, 1)

    def expire(self, session: int, at_ms: int) -> bool:
        """Expires a session; False when there is none."""
        if session not in self.tree.sessions.open:
            return False
        self._submit(session, ops.RemoveSession(expired=True), at_ms)
        line = self.lines.pop(session, None)
        if line is not None:
            self.commits.after(line.close)
        self.refused.pop(session, None)
        return True

    def refuse(self, session: int) -> bool:
        """Cuts the session off and refuses its client until `accept`, so that it expires in time."""
        if session not in self.tree.sessions.open:
            return False
        self.refused[session] = None
        self._leave(session)
        return True

    def accept(self, session: int) -> bool:
        return self.refused.pop(session, self) is None

    # --- operations ---------------------------------------------------------------------------------------

    def submit(self, session: int, op: ops.Operation) -> ops.OperationResult:
        result = self._submit(session, op, wall_ms())
        if isinstance(op, ops.RemoveSession) and not result.code:
            self.lines.pop(session, None)
            self.refused.pop(session, None)
        return result

    def _submit(self, session: int, op: ops.Operation, at_ms: int) -> ops.OperationResult:
        """Submits an operation. Watch events are queued before the caller queues the answer that shows the change."""
        try:
            op = self._resolved(session, op)
        except OperationRefused as refused:
            return ops.OperationResult(refused.code, self.tree.zxid)
        result = self.tree.submit(session, op, at_ms)
        if result.changed:
            assert not isinstance(op, ops.CheckVersion | ops.Get | ops.Exists | ops.GetChildren)
            assert not isinstance(op, ops.GetAcl | ops.Sync | ops.SetWatches)
            self.commits.append(Logged(result.zxid, session, at_ms, op))
        for event in result.events:
            line = self.lines.get(event.session)
            if line is not None:
                data = watch_frame(event)
                self.commits.after(lambda line=line, data=data: line.send(data))  # type: ignore[misc]
        return result

    def _resolved(self, session: int, op: ops.Operation) -> ops.Operation:
        """The operation as it is logged, its lists without `auth`. Raises OperationRefused(INVALID_ACL)."""
        if isinstance(op, ops.CreateZnode | ops.SetAcl):
            known = self.tree.sessions.open.get(session)
            acl = resolved(op.acl, UNKNOWN if known is None else known.identities)
            return op if acl == op.acl else msgspec.structs.replace(op, acl=acl)
        if isinstance(op, ops.Multi):
            return ops.Multi([self._resolved(session, each) for each in op.operations])  # type: ignore[misc]
        return op
