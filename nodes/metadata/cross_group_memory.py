"""A group's memory of operations that it shares with other groups; filled, changed and emptied by records only (DCFS2 §4.3, §4.4).

The coordinator keeps `begun` until the decision, then `decided` until every participant knows it. A participant keeps `promised` until the
coordinator's decision, or `voted` until the coordinator knows its vote. It keeps `finished` so that a late message finds its operation ended
(rule 11).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import Any

import msgspec

from nodes.metadata.changes import AddDentry, Change, DropInode
from nodes.metadata.digest import BEGUN_TERM, CROSSING, MASK, term
from nodes.metadata.effects import carry_out
from nodes.metadata.records import (
    BeginRecord,
    DecideRecord,
    EndRecord,
    FinishRecord,
    OutcomeRecord,
    PromiseRecord,
    VoteRecord,
)
from nodes.metadata.tree import Tree, Undo
from nodes.units import INCARNATION_SHIFT, OpId

ENDED_MOST = 64
Key = tuple[int, int]
"""Coordinator's group, and the number that it gave the operation."""


class Begun(msgspec.Struct, array_like=True):
    op_id: OpId
    lowest_open: int
    own: list[Change]
    peers: dict[int, list[Change]]
    coordinated: bool


class DecidedOperation(msgspec.Struct, array_like=True):
    commit: bool
    numbers: list[int]
    peers: list[int]


class Promised(msgspec.Struct, array_like=True):
    changes: list[Change]
    numbers: list[int]


class Voted(msgspec.Struct, array_like=True):
    commit: bool
    numbers: list[int]
    error: str
    kept: list[Change]
    """Files that have lost a name, perhaps their last. Readers and writers wait until the coordinator knows the vote, because it removes the name
    later: no file is seen to be gone while its directory still shows it."""


class Crossing:
    """The tables, with their part of the digest.

    Many methods: one applies each kind of record, and one undoes it."""

    def __init__(self, tree: Tree, keeps_aborted: bool = False) -> None:
        self._tree = tree
        self._keeps_aborted = keeps_aborted
        """The known bug `undo_forgotten`."""
        self.next_seq = 1
        self.begun: dict[int, Begun] = {}
        self.decided: dict[int, DecidedOperation] = {}
        self.promised: dict[Key, Promised] = {}
        self.voted: dict[Key, Voted] = {}
        self.finished: dict[Key, bool] = {}
        """Ended operations with their outcome, at or above the coordinator's watermark."""
        self.watermarks: dict[int, int] = {}
        """Watermark by coordinator's group: every operation below this number has ended."""
        self.calls: dict[OpId, int] = {}
        """Client calls that are begun and not decided."""
        self._coordinated: list[int] = []
        """A heap with the numbers of all begun or decided operations, and of some that have ended."""
        self.digest = 0
        self.appliers: dict[type, Callable[[Any, Undo], None]] = {
            BeginRecord: self._begin,
            DecideRecord: self._decide,
            EndRecord: self._end,
            VoteRecord: self._vote,
            PromiseRecord: self._promise,
            OutcomeRecord: self._outcome,
            FinishRecord: self._finish,
        }

    @property
    def finished_below(self) -> int:
        """Every operation that this group coordinates below this number has ended everywhere."""
        return self._coordinated[0] if self._coordinated else self.next_seq

    def _is_open(self, seq: int) -> bool:
        return seq in self.begun or seq in self.decided

    def _drop_ended(self) -> None:
        """Drops ended operations. The lowest number of the heap is open, and the heap stays small even if that one stays open for long."""
        numbers = self._coordinated
        while numbers and not self._is_open(numbers[0]):
            heappop(numbers)
        if len(numbers) > 2 * (len(self.begun) + len(self.decided)) + ENDED_MOST:
            self._coordinated = sorted({*self.begun, *self.decided})

    def is_over(self, key: Key) -> bool:
        """Whether the operation has ended here, so that further messages about it are late."""
        share = self.next_seq >> INCARNATION_SHIFT << INCARNATION_SHIFT
        return key[1] < max(self.watermarks.get(key[0], 0), share) or key in self.finished

    def has_calls_of(self, client: str) -> bool:
        return any(op_id.client == client for op_id in self.calls)

    def begin_incarnation(self, number: int, undo: Undo) -> None:
        """Makes all messages about operations of earlier incarnations late."""
        if undo is not None:
            undo.append((self._number_from, self.next_seq))
        self._number_from(max(self.next_seq, number << INCARNATION_SHIFT))

    def pass_over(self, numbers: int, undo: Undo) -> None:
        """Operations that a forced group may have begun get no number again."""
        if undo is not None:
            undo.append((self._number_from, self.next_seq))
        self._number_from(self.next_seq + numbers)

    def _number_from(self, next_seq: int) -> None:
        self.digest = (self.digest + (next_seq - self.next_seq) * BEGUN_TERM) & MASK
        self.next_seq = next_seq

    def recompute_digest(self) -> int:
        total = (self.next_seq - 1) * BEGUN_TERM
        for name, table in self._tables():
            total += sum(_term(name, key, value) for key, value in table.items())
        return total & MASK

    def _tables(self) -> list[tuple[str, dict[Any, Any]]]:
        names = ("begun", "decided", "promised", "voted", "finished", "watermarks")
        return [(name, getattr(self, name)) for name in names]

    # --- coordinator -----------------------------------------------------------------------------------------------

    def _begin(self, record: BeginRecord, undo: Undo) -> None:
        if undo is not None:
            undo.append((self._unbegin, record, self.next_seq))
        self.next_seq = record.seq + 1
        self.digest = (self.digest + BEGUN_TERM) & MASK
        if record.op_id.client:
            self.calls[record.op_id] = record.seq
        begun = Begun(record.op_id, record.lowest_open, record.own, record.peers, record.coordinated)
        self._set("begun", record.seq, begun, undo)
        self._hold(record.own, undo)
        for change in record.own:
            if isinstance(change, AddDentry) and change.unit is not None:
                self._tree.set_unit(change.parent, change.unit, undo)

    def _unbegin(self, record: BeginRecord, next_seq: int) -> None:
        self.next_seq = next_seq
        self.digest = (self.digest - BEGUN_TERM) & MASK
        self.calls.pop(record.op_id, None)

    def _decide(self, record: DecideRecord, undo: Undo) -> None:
        begun = self.begun[record.seq]
        self._set("begun", record.seq, None, undo)
        if begun.op_id.client:
            if undo is not None:
                undo.append((self.calls.__setitem__, begun.op_id, record.seq))
            del self.calls[begun.op_id]
        self._release(begun.own, undo)
        if begun.coordinated and begun.peers:
            decided = DecidedOperation(record.commit, record.numbers, sorted(begun.peers))
            self._set("decided", record.seq, decided, undo)
        if record.commit:
            carry_out(self._tree, begun.own, record.numbers, record.at_ns, undo)

    def _end(self, record: EndRecord, undo: Undo) -> None:
        self._set("decided", record.seq, None, undo)

    # --- participant -----------------------------------------------------------------------------------------------

    def _vote(self, record: VoteRecord, undo: Undo) -> None:
        self._raise_watermark(record.group, record.finished_below, undo)
        # Before the changes are carried out: a file whose last name goes is still here.
        kept: list[Change] = [
            change for change in record.changes if isinstance(change, DropInode) and self._is_file(change)
        ]
        if record.commit:
            carry_out(self._tree, record.changes, record.numbers, record.at_ns, undo)
        voted = Voted(record.commit, record.numbers, record.error, kept)
        self._set("voted", (record.group, record.seq), voted, undo)
        self._hold(voted.kept, undo)

    def _is_file(self, change: DropInode) -> bool:
        inode = self._tree.inodes.get(change.inode)
        return inode is not None and inode.entries is None

    def _finish(self, record: FinishRecord, undo: Undo) -> None:
        key = (record.group, record.seq)
        voted = self.voted[key]
        self._set("voted", key, None, undo)
        self._release(voted.kept, undo)
        self._set("finished", key, voted.commit, undo)

    def _promise(self, record: PromiseRecord, undo: Undo) -> None:
        self._raise_watermark(record.group, record.finished_below, undo)
        self._set("promised", (record.group, record.seq), Promised(record.changes, record.numbers), undo)
        self._tree.reserve(len(record.numbers), undo)
        self._hold(record.changes, undo, True, record.numbers)

    def _outcome(self, record: OutcomeRecord, undo: Undo) -> None:
        key = (record.group, record.seq)
        promised = self.promised.get(key)
        self._set("finished", key, record.commit, undo)
        if promised is None:
            return
        self._set("promised", key, None, undo)
        self._release(promised.changes, undo, True, promised.numbers)
        if record.commit or self._keeps_aborted:
            numbers = record.numbers or promised.numbers
            carry_out(self._tree, promised.changes, numbers, record.at_ns, undo)

    def _raise_watermark(self, group: int, finished_below: int, undo: Undo) -> None:
        before = self.watermarks.get(group, 0)
        if finished_below <= before:
            return
        self._set("watermarks", group, finished_below, undo)
        for key in [key for key in self.finished if key[0] == group and key[1] < finished_below]:
            self._set("finished", key, None, undo)

    # --- entries ---------------------------------------------------------------------------------------------------

    def _set(self, name: str, key: Any, value: Any, undo: Undo) -> None:
        """Sets an entry; None removes it."""
        table = getattr(self, name)
        before = table.get(key)
        if undo is not None:
            undo.append((self._put, name, key, before))
        self._put(name, key, value)

    def _put(self, name: str, key: Any, value: Any) -> None:
        table = getattr(self, name)
        before = table.pop(key, None)
        change = -_term(name, key, before) if before is not None else 0
        if value is not None:
            if name in _COORDINATED and not self._is_open(key):
                heappush(self._coordinated, key)
            table[key] = value
            change += _term(name, key, value)
        elif name in _COORDINATED:
            self._drop_ended()
        self.digest = (self.digest + change) & MASK

    def _hold(
        self, changes: list[Change], undo: Undo, promised: bool = False, numbers: Sequence[int] = ()
    ) -> None:
        if undo is not None:
            undo.append((self._tree.locks.release, changes, promised, numbers))
        self._tree.locks.hold(changes, promised, numbers)

    def _release(
        self, changes: list[Change], undo: Undo, promised: bool = False, numbers: Sequence[int] = ()
    ) -> None:
        if undo is not None:
            undo.append((self._tree.locks.hold, changes, promised, numbers))
        self._tree.locks.release(changes, promised, numbers)

    # --- images ----------------------------------------------------------------------------------------------------

    def rows(self) -> list[tuple[str, Any, Any]]:
        reported = [("next_seq", 0, self.next_seq)]
        return reported + [
            (name, key, value) for name, table in self._tables() for key, value in table.items()
        ]

    def restore(self, rows: list[Any]) -> None:
        """Restores rows of an image. Raises msgspec.ValidationError, KeyError, TypeError."""
        for name, key, value in rows:
            if name == "next_seq":
                self.next_seq = int(value)
                continue
            kind, of = _KINDS[name]
            key, value = msgspec.convert(key, kind), msgspec.convert(value, of)
            getattr(self, name)[key] = value
            if name in _COORDINATED:
                heappush(self._coordinated, key)
            if isinstance(value, Begun):
                self._tree.locks.hold(value.own)
                if value.op_id.client:
                    self.calls[value.op_id] = key
            elif isinstance(value, Promised):
                self._tree.locks.hold(value.changes, True, value.numbers)
            elif isinstance(value, Voted):
                self._tree.locks.hold(value.kept)
        self.digest = self.recompute_digest()


_COORDINATED = ("begun", "decided")
_KINDS: dict[str, tuple[Any, Any]] = {
    "begun": (int, Begun),
    "decided": (int, DecidedOperation),
    "promised": (Key, Promised),
    "voted": (Key, Voted),
    "finished": (Key, bool),
    "watermarks": (int, int),
}


def _term(name: str, key: Any, value: Any) -> int:
    if isinstance(value, Begun):
        value = msgspec.structs.replace(value, peers=dict(sorted(value.peers.items())))
    return term((CROSSING, name, key, value))
