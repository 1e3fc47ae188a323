"""The znode tree: ZooKeeper's data model, pure and deterministic. Time and passwords are passed in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.coordination import operations as ops
from nodes.coordination.acl import ADMIN, CREATE, DELETE, READ, UNKNOWN, WRITE, masked, permits
from nodes.coordination.codes import Code, OperationRefused
from nodes.coordination.operations import OperationResult, Touched, TreeChange, WatchEvent
from nodes.coordination.paths import parent_of, valid
from nodes.coordination.sessions import ZooKeeperSession, ZooKeeperSessions
from nodes.coordination.watches import CHILDREN_CHANGED, CREATED, DATA_CHANGED, DELETED, Watches
from nodes.coordination.znode import Znode

BYTES_MAX = 64 << 20
"""Largest sum of all paths and contents; an image of the tree stays far below the log's limit for one record."""
OPERATOR = 0
"""The session that always exists and owns no ephemeral nodes: faults and tests act through it."""

Listener = Callable[[TreeChange], None]
Undo = list[Callable[[], None]]


class ZnodeTree:
    """Nodes, sessions and watches of one coordination service.

    `submit` is the only way to change it (the session calls below use it, too). Submitting again, in order, the operations whose results were
    `changed` yields the same tree: that is the log. `now_ms` of `submit` becomes ctime and mtime. `now_ms` of `touch` and `expire_due` is a
    clock that never runs backwards (open_session: both). Submitting does not touch the session: the caller touches it for every message.

    Many methods: one carries out each operation of ZooKeeper's protocol.
    """

    def __init__(
        self,
        tick_ms: int = 100,
        min_timeout_ms: int = 200,
        max_timeout_ms: int = 60_000,
        first_session: int = 1,
    ):
        self.zxid = 0
        self.nodes: dict[str, Znode] = {"/": Znode(0, 0)}
        self.sessions = ZooKeeperSessions(tick_ms, min_timeout_ms, max_timeout_ms)
        self.watches = Watches()
        self.next_session = first_session
        self.listeners: list[Listener] = []
        self.bytes = 0
        """Size of all paths and contents."""
        self._identities = UNKNOWN
        self._unchecked = False
        """Whether the present operation is the operator's or was permitted before."""
        self._touched: list[Touched] = []
        self._answer: dict[type, Callable[[int, Any, int], OperationResult]] = {
            ops.CreateZnode: self._change, ops.DeleteZnode: self._change, ops.SetData: self._change,
            ops.SetAcl: self._change, ops.CheckVersion: self._change, ops.Multi: self._multi,
            ops.CreateSession: self._open, ops.RemoveSession: self._close,
            ops.Get: self._get, ops.Exists: self._exists, ops.GetChildren: self._children,
            ops.GetAcl: self._get_acl, ops.Sync: self._sync,
            ops.SetWatches: self._set_watches,
        }  # fmt: skip
        self._step: dict[type, Callable[[int, Any, int, int, Undo], OperationResult]] = {
            ops.CreateZnode: self._create, ops.DeleteZnode: self._delete, ops.SetData: self._set,
            ops.SetAcl: self._set_acl, ops.CheckVersion: self._check,
        }  # fmt: skip

    # --- calls ----------------------------------------------------------------------------------------------

    def submit(self, session: int, op: ops.Operation, now_ms: int) -> OperationResult:
        """The result of one operation of a session; never raises for an operation that a client may send."""
        known = self.sessions.open.get(session)
        self._unchecked = session == OPERATOR
        self._identities = UNKNOWN if known is None else known.identities
        return self._carried_out(session, op, now_ms)

    def replay(self, session: int, op: ops.Operation, now_ms: int) -> OperationResult:
        """Carries out a logged change again. It was permitted when it was made."""
        self._unchecked = True
        return self._carried_out(session, op, now_ms)

    def _carried_out(self, session: int, op: ops.Operation, now_ms: int) -> OperationResult:
        if session != OPERATOR and session not in self.sessions.open:
            return OperationResult(Code.SESSION_EXPIRED, self.zxid)
        try:
            return self._answer[op.__class__](session, op, now_ms)
        except OperationRefused as refused:
            return OperationResult(refused.code, self.zxid)

    def open_session(self, timeout_ms: int, now_ms: int, password: bytes = b"") -> ZooKeeperSession:
        """A new session; its `timeout_ms` is the negotiated one."""
        self.submit(OPERATOR, ops.CreateSession(self.sessions.negotiate(timeout_ms), password), now_ms)
        return self.sessions.open[self.next_session - 1]

    def touch(self, session: int, now_ms: int) -> bool:
        """Notes a message of the session. False when the session is gone, and the client must learn that it has expired."""
        return self.sessions.touch(session, now_ms)

    def close_session(self, session: int, now_ms: int, expired: bool = False) -> OperationResult:
        """Ends a session and removes its ephemeral nodes; Code.SESSION_EXPIRED when there is none."""
        return self.submit(session, ops.RemoveSession(expired), now_ms)

    def expire_due(self, now_ms: int, at_ms: int | None = None) -> list[tuple[int, OperationResult]]:
        """Ends every session that was not touched in time; listeners receive `at_ms` (default `now_ms`) as the time."""
        at = now_ms if at_ms is None else at_ms
        return [
            (number, self.close_session(number, at, expired=True)) for number in self.sessions.due(now_ms)
        ]

    def disconnected(self, session: int) -> None:
        """The session's connection is lost, and its watches with it (a client sets them again)."""
        self.watches.forget(session)

    def restore(self, path: str, node: Znode) -> None:
        """Restores a node of an image, a parent before its children; this is not a change."""
        if path == "/":
            node.children = self.nodes["/"].children
            self.nodes["/"] = node
        else:
            self._link(path, node)

    # --- changes --------------------------------------------------------------------------------------------

    def _change(self, session: int, op: Any, now_ms: int) -> OperationResult:
        self._touched = []
        result = self._step[op.__class__](session, op, now_ms, self.zxid + 1, [])
        return self._done(result, op.__struct_config__.tag, session, now_ms)

    def _multi(self, session: int, op: ops.Multi, now_ms: int) -> OperationResult:
        self._touched = []
        undo: Undo = []
        zxid, results = self.zxid + 1, []
        for one in op.operations:
            try:
                results.append(self._step[one.__class__](session, one, now_ms, zxid, undo))
            except OperationRefused as refused:
                for step in reversed(undo):
                    step()
                return self._rolled_back(refused.code, len(results), len(op.operations))
        return self._done(OperationResult(results=results), "multi", session, now_ms)

    def _rolled_back(self, code: Code, before: int, total: int) -> OperationResult:
        """The result of a failed multi, as in ZooKeeper: 0 for undone parts, the reason for the failed one, RUNTIME_INCONSISTENCY for parts that
        were not tried."""
        codes = [Code.OK] * before + [code] + [Code.RUNTIME_INCONSISTENCY] * (total - before - 1)
        return OperationResult(code, self.zxid, results=[OperationResult(each, self.zxid) for each in codes])

    def _done(self, result: OperationResult, op: str, session: int, now_ms: int) -> OperationResult:
        """Makes a change visible: advances the zxid, fires watches, notifies listeners."""
        touched = self._touched
        if touched or op in ("open", "close", "expire"):
            self.zxid += 1
            result.changed = True
            result.events = self._fire(touched)
        result.zxid = self.zxid
        if result.changed and self.listeners:
            reported = TreeChange(self.zxid, op, session, now_ms, touched)
            for listener in self.listeners:
                listener(reported)
        return result

    def _fire(self, touched: list[Touched]) -> list[WatchEvent]:
        events: list[WatchEvent] = []
        for each in touched:
            if each.kind == "set":
                self.watches.data_changed(each.path, events)
            elif each.kind == "created":
                self.watches.created(each.path, parent_of(each.path), events)
            elif each.kind == "deleted":
                self.watches.deleted(each.path, parent_of(each.path), events)
        return events

    def _create(
        self, session: int, op: ops.CreateZnode, now_ms: int, zxid: int, undo: Undo
    ) -> OperationResult:
        parent = self._node(parent_of(op.path), CREATE)
        path = f"{op.path}{parent.creations:010d}" if op.sequential else op.path
        if not valid(path):
            raise OperationRefused(Code.BAD_ARGUMENTS)
        if path in self.nodes:
            raise OperationRefused(Code.NODE_EXISTS)
        if parent.owner:
            raise OperationRefused(Code.NO_CHILDREN_FOR_EPHEMERALS)
        if op.ephemeral and session == OPERATOR:
            raise OperationRefused(Code.BAD_ARGUMENTS)
        self._check_room(len(path) + len(op.data))
        node = Znode(zxid, now_ms, op.data, session if op.ephemeral else 0, op.acl)
        undo.append(parent.restorer())
        self._link(path, node)
        parent.creations += 1
        parent.pzxid = zxid
        undo.append(lambda: self._unlink(path, node))
        self._touched.append(Touched("created", path))
        return OperationResult(0, zxid, path=path, stat=node.stat())

    def _delete(
        self, session: int, op: ops.DeleteZnode, now_ms: int, zxid: int, undo: Undo
    ) -> OperationResult:
        if op.path == "/":
            raise OperationRefused(Code.BAD_ARGUMENTS)
        parent = self._node(parent_of(op.path), DELETE)
        node = self._node(op.path)
        _expect(node.version, op.version)
        if node.children:
            raise OperationRefused(Code.NOT_EMPTY)
        undo.append(parent.restorer())
        self._unlink(op.path, node)
        parent.pzxid = zxid
        undo.append(lambda: self._link(op.path, node))
        self._touched.append(Touched("deleted", op.path))
        return OperationResult(0, zxid, path=op.path)

    def _set(self, session: int, op: ops.SetData, now_ms: int, zxid: int, undo: Undo) -> OperationResult:
        node = self._named(op.path, WRITE)
        _expect(node.version, op.version)
        more = len(op.data) - len(node.data)
        self._check_room(more)
        undo.append(node.restorer())
        undo.append(lambda: self._grow(-more))
        self._grow(more)
        node.data, node.mzxid, node.mtime = op.data, zxid, now_ms
        node.version += 1
        self._touched.append(Touched("set", op.path))
        return OperationResult(0, zxid, path=op.path, stat=node.stat())

    def _set_acl(self, session: int, op: ops.SetAcl, now_ms: int, zxid: int, undo: Undo) -> OperationResult:
        node = self._named(op.path, ADMIN)
        _expect(node.aversion, op.version)
        node.acl = op.acl
        node.aversion += 1
        self._touched.append(Touched("acl", op.path))
        return OperationResult(0, zxid, path=op.path, stat=node.stat())

    def _check(
        self, session: int, op: ops.CheckVersion, now_ms: int, zxid: int, undo: Undo
    ) -> OperationResult:
        _expect(self._named(op.path, READ).version, op.version)
        return OperationResult(0, zxid, path=op.path)

    def _check_room(self, more: int) -> None:
        """Raises OperationRefused(QUOTA_EXCEEDED)."""
        if more > 0 and self.bytes + more > BYTES_MAX:
            raise OperationRefused(Code.QUOTA_EXCEEDED)

    def _grow(self, more: int) -> None:
        self.bytes += more

    def _link(self, path: str, node: Znode) -> None:
        self._grow(len(path) + len(node.data))
        self.nodes[path] = node
        self.nodes[parent_of(path)].children[path[path.rfind("/") + 1 :]] = None
        if node.owner:
            self.sessions.open[node.owner].ephemerals[path] = None

    def _unlink(self, path: str, node: Znode) -> None:
        self._grow(-len(path) - len(node.data))
        del self.nodes[path]
        del self.nodes[parent_of(path)].children[path[path.rfind("/") + 1 :]]
        if node.owner:
            del self.sessions.open[node.owner].ephemerals[path]

    def _named(self, path: str, permission: int) -> Znode:
        """The node at a path. As in ZooKeeper, only set, set_acl and check validate the path before they look for the node."""
        if not valid(path):
            raise OperationRefused(Code.BAD_ARGUMENTS)
        return self._node(path, permission)

    def _node(self, path: str, permission: int = 0) -> Znode:
        node = self.nodes.get(path)
        if node is None:
            raise OperationRefused(Code.NO_NODE)
        if permission and not self._unchecked and not permits(node.acl, permission, self._identities):
            raise OperationRefused(Code.NO_AUTH)
        return node

    # --- sessions -------------------------------------------------------------------------------------------

    def _open(self, session: int, op: ops.CreateSession, now_ms: int) -> OperationResult:
        number = self.next_session
        self.next_session += 1
        self.sessions.add(ZooKeeperSession(number, op.timeout_ms, op.password), now_ms)
        self._touched = []
        return self._done(OperationResult(), "open", number, now_ms)

    def _close(self, session: int, op: ops.RemoveSession, now_ms: int) -> OperationResult:
        if session == OPERATOR:
            raise OperationRefused(Code.BAD_ARGUMENTS)
        self._touched = []
        self.watches.forget(session)
        for path in sorted(self.sessions.open[session].ephemerals):
            self.nodes[parent_of(path)].pzxid = self.zxid + 1
            self._unlink(path, self.nodes[path])
            self._touched.append(Touched("deleted", path))
        self.sessions.remove(session)
        return self._done(OperationResult(), "expire" if op.expired else "close", session, now_ms)

    # --- reads ----------------------------------------------------------------------------------------------

    def _get(self, session: int, op: ops.Get, now_ms: int) -> OperationResult:
        node = self._node(op.path, READ)
        if op.watch:
            self.watches.add(self.watches.data, op.path, session)
        return OperationResult(0, self.zxid, path=op.path, data=node.data, stat=node.stat())

    def _exists(self, session: int, op: ops.Exists, now_ms: int) -> OperationResult:
        if op.watch and valid(op.path):
            self.watches.add(self.watches.data, op.path, session)
        return OperationResult(0, self.zxid, path=op.path, stat=self._node(op.path).stat())

    def _children(self, session: int, op: ops.GetChildren, now_ms: int) -> OperationResult:
        """Names in order, so that a seed replays; ZooKeeper promises no order."""
        node = self._node(op.path, READ)
        if op.watch:
            self.watches.add(self.watches.child, op.path, session)
        return OperationResult(0, self.zxid, path=op.path, stat=node.stat(), children=sorted(node.children))

    def _get_acl(self, session: int, op: ops.GetAcl, now_ms: int) -> OperationResult:
        """As in ZooKeeper, only a client that may change the list sees its digests."""
        node = self._node(op.path, READ | ADMIN)
        may_change = self._unchecked or permits(node.acl, ADMIN, self._identities)
        return OperationResult(
            0, self.zxid, path=op.path, stat=node.stat(), acl=node.acl if may_change else masked(node.acl)
        )

    def _sync(self, session: int, op: ops.Sync, now_ms: int) -> OperationResult:
        return OperationResult(0, self.zxid, path=op.path)

    def _set_watches(self, session: int, op: ops.SetWatches, now_ms: int) -> OperationResult:
        watches, result = self.watches, OperationResult(0, self.zxid)
        due: list[tuple[int, str]] = []
        if not all(map(valid, (*op.data, *op.exist, *op.child))):
            raise OperationRefused(Code.BAD_ARGUMENTS)
        for path in op.data:
            node = self.nodes.get(path)
            if node is None or node.mzxid > op.zxid:
                due.append((DELETED if node is None else DATA_CHANGED, path))
            else:
                watches.add(watches.data, path, session)
        for path in op.exist:
            if path in self.nodes:
                due.append((CREATED, path))
            else:
                watches.add(watches.data, path, session)
        for path in op.child:
            node = self.nodes.get(path)
            if node is None or node.pzxid > op.zxid:
                due.append((DELETED if node is None else CHILDREN_CHANGED, path))
            else:
                watches.add(watches.child, path, session)
        result.events = [WatchEvent(session, kind, path) for kind, path in due]
        return result


def _expect(version: int, expected: int) -> None:
    if expected not in (-1, version):
        raise OperationRefused(Code.BAD_VERSION)
