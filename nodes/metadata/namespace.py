"""The namespace of one replica group: plan, apply, undo, read. Pure and deterministic; the same function serves every replica."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.errors import FsError
from nodes.metadata.cross_group_memory import Crossing
from nodes.metadata.digest import MASK
from nodes.metadata.effects import Busy
from nodes.metadata.files import FILE_PLANNERS, FileTables, file_appliers
from nodes.metadata.lookup import Start
from nodes.metadata.operations import (
    CloseSession,
    EndSession,
    Failed,
    OpenSession,
    Operation,
    Read,
    Result,
    Write,
)
from nodes.metadata.plans import ALONE, PLANNERS, Call, Plan, ResolutionContext
from nodes.metadata.records import (
    AlterRecord,
    AppendRecord,
    BarrierRecord,
    CloseSessionRecord,
    DecideRecord,
    EndSessionRecord,
    GrowRecord,
    IncarnationRecord,
    KeepRecord,
    LinkRecord,
    MakeRecord,
    MoveRecord,
    OpenSessionRecord,
    PassOverRecord,
    ReclaimRecord,
    Record,
    RefuseRecord,
    RemoveRecord,
    RestampRecord,
)
from nodes.metadata.sessions import OPEN_MAX, ClientSessions
from nodes.metadata.tree import Tree, Undo
from nodes.metadata.tree_reader import TreeReader
from nodes.mutations import NO_MUTATIONS, Mutations
from nodes.units import INCARNATION_SHIFT, OpId

REMEMBERED = frozenset(
    (
        MakeRecord, MoveRecord, LinkRecord, RemoveRecord, AlterRecord, KeepRecord, RefuseRecord, OpenSessionRecord, DecideRecord,
        AppendRecord, GrowRecord, RestampRecord,
    )
)  # fmt: skip
"""Records whose result ends a client's call."""
ALTERABLE = ("mode", "owner", "group", "mtime_ns", "atime_ns", "replication")


class Namespace:
    """Inodes, dentries and client sessions of one group."""

    def __init__(
        self,
        group: int = 1,
        short_memory: bool = False,
        dentry_locks_only: bool = False,
        mutations: Mutations = NO_MUTATIONS,
        open_calls: int = 0,
    ):
        """`open_calls`: largest number of open calls of one client; 0 selects the built-in limit."""
        self.group = group
        self._open_max = open_calls or OPEN_MAX
        self.short_memory = short_memory
        self.dentry_locks_only = dentry_locks_only
        self.tree = Tree(group, dentry_locks_only, mutations.promised_across_move)
        self.sessions = ClientSessions(short_memory, mutations.closing_forgotten)
        self.crossing = Crossing(self.tree, mutations.undo_forgotten)
        self.newest_ns = 0
        """`at_ns` of the last record."""
        self.read: Callable[[Read, Start], Result] = TreeReader(self.tree).read
        """Answers a read. Raises FsError, Elsewhere, Gone, Busy."""
        self._appliers: dict[type, Callable[[Any, Undo], None]] = {
            MakeRecord: self._make,
            MoveRecord: self._move,
            LinkRecord: self._link,
            RemoveRecord: self._remove,
            AlterRecord: self._alter,
            KeepRecord: lambda record, undo: None,
            RefuseRecord: lambda record, undo: None,
            OpenSessionRecord: lambda record, undo: self.sessions.open(
                record.op_id.client, record.since, undo
            ),
            CloseSessionRecord: self._close_session,
            EndSessionRecord: self._end_session,
            ReclaimRecord: lambda record, undo: self.tree.drop(record.inode, undo),
            BarrierRecord: lambda record, undo: None,
            IncarnationRecord: self._begin_incarnation,
            PassOverRecord: self._pass_over,
            **self.crossing.appliers,
            **file_appliers(self.tree),
        }

    @property
    def incarnation(self) -> int:
        """The incarnation of the cluster that this state belongs to."""
        return self.crossing.next_seq >> INCARNATION_SHIFT

    @property
    def digest(self) -> int:
        """64 bits over the whole state, the same on every replica in the same state (nodes/metadata/digest.py)."""
        tree = self.tree
        return (tree.digest + tree.bodies.digest + self.sessions.digest + self.crossing.digest) & MASK

    def recompute_digest(self) -> int:
        """The expected value of `digest`, recomputed from every entry."""
        parts = (self.tree, self.tree.bodies, self.sessions, self.crossing)
        return sum(part.recompute_digest() for part in parts) & MASK

    # --- writes ----------------------------------------------------------------------------------------------------

    def plan(
        self, operation: Write, op_id: OpId, lowest_open: int, now_ns: int, way: ResolutionContext = ALONE
    ) -> Plan:
        """The plan of an operation on the present state. Raises FsError, Elsewhere, Gone, Busy; changes nothing."""
        self._check_call(operation, op_id, lowest_open)
        if op_id in self.crossing.calls:
            raise Busy("this very call is not decided")
        if type(operation) is CloseSession and self.crossing.has_calls_of(op_id.client):
            raise Busy("a call of this session is not decided")
        call = Call(op_id, lowest_open, now_ns)
        planner = FILE_PLANNERS.get(type(operation))
        if planner is not None:
            return planner(FileTables(self.tree, self.sessions), operation, call, way)
        return PLANNERS[type(operation)](self.tree, operation, call, way)

    def remembers(self, operation: Operation | EndSession, op_id: OpId, lowest_open: int) -> bool:
        """Whether a refusal of this call can be recorded: its session is open, and its number is allowed.

        Not for a call that opens a session: an earlier copy may have opened it, and that session may have ended since.
        """
        sessions = self.sessions
        return (
            type(operation) is not OpenSession
            and sessions.known(op_id.client)
            and op_id.number >= sessions.lowest_open(op_id.client)
            and 0 <= op_id.number - lowest_open < self._open_max
        )

    def _check_call(self, operation: Write, op_id: OpId, lowest_open: int) -> None:
        sessions = self.sessions
        if not sessions.known(op_id.client):
            if type(operation) is OpenSession:
                return
            raise FsError("ESTALE", f"the session {op_id.client} is not open")
        if op_id.number < sessions.lowest_open(op_id.client):
            raise FsError("ESTALE", f"call {op_id.number} of {op_id.client} was answered and forgotten")
        if not 0 <= op_id.number - lowest_open < self._open_max:
            raise FsError("EAGAIN", f"a client has at most {self._open_max} calls open")

    def apply(self, record: Record, undo: Undo = None) -> None:
        """Carries out a record; `undo` collects the entries that reverse it."""
        self._appliers[type(record)](record, undo)
        self.remember(record, undo)

    def change(self, record: Record, undo: Undo) -> None:
        """Applies the record to the tree and to sessions, without its result."""
        self._appliers[type(record)](record, undo)

    def remember(self, record: Record, undo: Undo) -> None:
        """Makes the record the newest one; a client's call ends with its result."""
        kind = type(record)
        self.newest_ns = record.at_ns
        if kind in REMEMBERED and record.op_id.client:  # type: ignore[union-attr]
            if kind is DecideRecord and not (record.commit or type(record.result) is Failed):  # type: ignore[union-attr]
                return
            self.sessions.remember(record.op_id, record.lowest_open, record.result, record.at_ns, undo)  # type: ignore[union-attr]

    def undo(self, entry: Any) -> None:
        """Reverses one entry of an undo list. Entries, and records, are reversed from the last to the first."""
        entry[0](*entry[1:])

    def _make(self, record: MakeRecord, undo: Undo) -> None:
        tree = self.tree
        parent, number = tree.inodes[record.parent], record.inode
        for name in record.names:
            parent = tree.make(parent, name, number, record.directory, record.mode, record.at_ns, undo)
            number += 1
        if record.parent_unit is not None:
            tree.set_unit(record.parent, record.parent_unit, undo)
        if record.unit is not None:
            tree.set_unit(record.inode, record.unit, undo)

    def _move(self, record: MoveRecord, undo: Undo) -> None:
        tree = self.tree
        old, new = tree.inodes[record.from_parent], tree.inodes[record.to_parent]
        assert new.entries is not None
        if record.to_name in new.entries:
            tree.remove(new, record.to_name, record.at_ns, undo)
        tree.move(old, record.from_name, new, record.to_name, record.at_ns, undo)

    def _link(self, record: LinkRecord, undo: Undo) -> None:
        tree = self.tree
        tree.link(tree.inodes[record.parent], record.name, record.inode, record.at_ns, undo)
        tree.count_name(tree.inodes[record.inode], 1, undo)

    def _remove(self, record: RemoveRecord, undo: Undo) -> None:
        self.tree.remove(self.tree.inodes[record.parent], record.name, record.at_ns, undo)

    def _close_session(self, record: CloseSessionRecord, undo: Undo) -> None:
        self.tree.bodies.give_up(record.op_id.client, undo)
        self.sessions.close(record.op_id, record.result, record.at_ns, undo)

    def _end_session(self, record: EndSessionRecord, undo: Undo) -> None:
        self.tree.bodies.give_up(record.client, undo)
        self.sessions.end(record.client, undo)

    def plan_end(self, operation: EndSession, now_ns: int) -> Record:
        """The record that ends a session. Raises FsError ESTALE when the client is unknown, or a record of it has come since."""
        sessions = self.sessions
        if not sessions.known(operation.client) or sessions.used_ns(operation.client) != operation.used_ns:
            raise FsError("ESTALE", f"the session {operation.client} is in use, or has ended")
        return EndSessionRecord(now_ns, operation.client)

    def _begin_incarnation(self, record: IncarnationRecord, undo: Undo) -> None:
        self.tree.begin_incarnation(record.number, undo)
        self.crossing.begin_incarnation(record.number, undo)

    def _pass_over(self, record: PassOverRecord, undo: Undo) -> None:
        self.tree.pass_over(record.numbers, record.moves, undo)
        self.crossing.pass_over(record.numbers, undo)

    def _alter(self, record: AlterRecord, undo: Undo) -> None:
        given = {name: getattr(record, name) for name in ALTERABLE}
        inode = self.tree.inodes[record.inode]
        self.tree.alter(inode, {name: value for name, value in given.items() if value is not None}, undo)
