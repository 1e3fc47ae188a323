"""Journals of a cluster of two groups, as its servers would have left them.

Placement is random, so that every second file has its home in the other group.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import msgspec
from crc32c import crc32c

from nodes.metadata.changes import AddDentry, Change, NewInode
from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import Done, Made
from nodes.metadata.records import (
    BeginRecord,
    DecideRecord,
    FinishRecord,
    MakeRecord,
    OpenSessionRecord,
    Record,
    VoteRecord,
)
from nodes.real.disk import RealDisk
from nodes.real.turn import Turn
from nodes.storage.journal_file import Journal
from nodes.units import DIRECTORY, ROOT, OpId
from nodes.wire.messages import JournalGroup, Mark

RECORDS_PER_GROUP = 32
"""Records of a journal group: the concurrent calls of `bench metadata`."""
FILES_PER_DIRECTORY = 256
CLIENTS = 32
STEP_NS = 1_000
"""Time between two records, in ns."""

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(JournalGroup).decode


class JournalBook:
    """The journal of one group in its server's directory, continued after its last group; the server does not run."""

    def __init__(self, directory: Path, group: int, turn: Turn):
        self._journal = journal = Journal.open(RealDisk(directory, turn), "journal")
        self.namespace = Namespace(group)
        self._previous = Mark(0, 0, 0, 0)
        self._groupid, self._epoch = 0, 1
        for _, data in journal.entries(1, journal.last_sn):
            found = _decode(data)
            self._groupid, self._epoch = found.groupid, found.epoch
            self._previous = mark_of(found, data)
            for record in found.records:
                self.namespace.apply(record)
        self._open: list[Record] = []
        self.records = 0
        """Records that this writer has added."""
        self.size = 0

    def now_ns(self) -> int:
        """Time of the next record."""
        return self.namespace.newest_ns + STEP_NS

    def write(self, record: Record) -> None:
        """Adds a record; it is durable after `close`."""
        self.namespace.apply(record)
        self.records += 1
        self._open.append(record)
        if len(self._open) == RECORDS_PER_GROUP:
            self._end_group()

    def _end_group(self) -> None:
        records, self._open = self._open, []
        previous = self._previous
        self._groupid += 1
        group = JournalGroup(
            previous.sn + 1, self._groupid, self._epoch, previous.incarnation, previous, previous.sn,
            self.namespace.newest_ns, records,
        )  # fmt: skip
        data = _encode(group)
        self._journal.append(group.sn, group.epoch, data)
        self._previous = mark_of(group, data)
        self.size += len(data)

    async def close(self) -> None:
        if self._open:
            self._end_group()
        await self._journal.sync()


def make_files(book: JournalBook, per_directory: int, done: Callable[[], bool]) -> None:
    """Writes records of one client that makes directories with so many files each, until `done`."""
    session, parent = "client1", ROOT
    book.write(OpenSessionRecord(OpId(session, 0), 0, book.now_ns(), Done()))
    for number in count(1):
        if done():
            return
        is_directory = number % per_directory == 1
        inode = book.namespace.tree.next_number | (DIRECTORY if is_directory else 0)
        under, name = ROOT if is_directory else parent, f"client1.abcdef0123-{number}"
        call, mode = OpId(session, number), 0o755 if is_directory else 0o644
        book.write(
            MakeRecord(call, number, book.now_ns(), Made(inode), under, [name], inode, is_directory, mode)
        )
        parent = inode if is_directory else parent


def mark_of(group: JournalGroup, data: bytes) -> Mark:
    return Mark(group.incarnation, group.epoch, group.sn, crc32c(data))


class JournalPair:
    """The journals of two groups in step: each participates in the operations that the other coordinates."""

    def __init__(self, mine: JournalBook, other: JournalBook):
        self._mine, self._other = mine, other
        self._called = [0] * CLIENTS
        """Calls of each client, and the lowest undecided one; 0 for none."""
        self._lowest = [0] * CLIENTS
        self._made = 0
        self._parent = ROOT
        for client in range(CLIENTS):
            mine.write(OpenSessionRecord(OpId(f"client{client}", 0), 0, mine.now_ns(), Done()))

    def _call(self, decided: bool) -> tuple[OpId, int, int]:
        client = self._made % CLIENTS
        number = self._called[client] = self._called[client] + 1
        if not decided and not self._lowest[client]:
            self._lowest[client] = number
        return OpId(f"client{client}", number), self._lowest[client] or number, self._mine.now_ns()

    def make(self, decided: bool = True) -> None:
        """Creates one file, here or in the other group. An undecided file exists, and the other group has voted."""
        if self._made % FILES_PER_DIRECTORY == 0:
            self._parent = self._make_here(ROOT, f"directory-{self._made}", True)
        self._made += 1
        name = f"client1.abcdef0123-{self._made}"
        if decided and self._made % 2:
            self._make_here(self._parent, name, False)
        else:
            self._make_there(name, decided)

    def _make_here(self, parent: int, name: str, directory: bool) -> int:
        inode = self._mine.namespace.tree.next_number | (DIRECTORY if directory else 0)
        mode = 0o755 if directory else 0o644
        self._mine.write(MakeRecord(*self._call(True), Made(inode), parent, [name], inode, directory, mode))
        return inode

    def _make_there(self, name: str, decided: bool) -> None:
        mine, other = self._mine, self._other
        seq, call = mine.namespace.crossing.next_seq, self._call(decided)
        own: list[Change] = [AddDentry(self._parent, name, 0)]
        theirs: list[Change] = [NewInode(False, 0o644)]
        mine.write(BeginRecord(*call, Done(), seq, own, {other.namespace.group: theirs}, False))
        numbers = [other.namespace.tree.next_number]
        key = (mine.namespace.group, seq)
        finished_below = mine.namespace.crossing.finished_below
        other.write(VoteRecord(other.now_ns(), *key, True, theirs, numbers, "", finished_below))
        if decided:
            mine.write(DecideRecord(*call[:2], mine.now_ns(), Made(numbers[0]), seq, True, numbers))
            other.write(FinishRecord(other.now_ns(), *key))
