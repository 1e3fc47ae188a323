"""Reading a backup piece by piece: every byte and the shape of the tree are checked before a record is handed on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from crc32c import crc32c

from nodes.backup.records import (
    FORMAT,
    FRAME,
    HEAD,
    MAGIC,
    PART_MAX,
    BackupDamaged,
    BackupEnd,
    BackupHeader,
    Content,
    DirectoryBegin,
    DirectoryEnd,
    EndedEarly,
    FileBegin,
    FurtherName,
    Record,
    Totals,
)
from nodes.errors import FsError
from nodes.format_number import number_of
from nodes.metadata.files import check_block_size
from nodes.metadata.operations import BLOCK_SIZE
from nodes.metadata.paths import NAME_MAX, PATH_MAX, shown, split
from nodes.metadata.plans import MODE_MAX, REPLICATION_MAX, TIME_MAX

_decoder: Any = msgspec.msgpack.Decoder(Record)


class BackupReader:
    """Splits a stream into records and checks them. Memory is bounded by one part and the depth of the tree."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._begun = False
        self._crc = 0
        self._shape = TreeShape()
        self.whole_bytes = 0
        """Bytes from the beginning of the stream in which nothing is wrong."""

    @property
    def totals(self) -> Totals:
        """Counts of the records so far."""
        return self._shape.totals

    def records(self, data: bytes) -> Iterator[Record]:
        """The records that the next bytes complete. Raises BackupDamaged, after which no more may be given."""
        buffer, offset = self._buffer, 0
        buffer += data
        try:
            if not self._begun and len(buffer) >= HEAD.size:
                self._check_head(*HEAD.unpack_from(buffer))
                offset = self.whole_bytes = HEAD.size
            while self._begun and len(buffer) - offset >= FRAME.size:
                length, crc = FRAME.unpack_from(buffer, offset)
                if length > PART_MAX:
                    raise self._damaged(f"a part of {length} bytes begins; {PART_MAX} are the most")
                end = offset + FRAME.size + length
                if len(buffer) < end:
                    break
                payload = bytes(buffer[offset + FRAME.size : end])
                offset = end
                yield self._decoded(payload, crc)
                self.whole_bytes += FRAME.size + length
            if self._shape.ended and len(buffer) > offset:
                raise self._damaged("the backup has ended, and more follows")
        finally:
            del buffer[:offset]

    def finish(self) -> Totals:
        """The counts of a whole backup. Raises BackupDamaged when the stream has not ended."""
        if not self._shape.ended:
            raise self._damaged("the backup is cut off")
        return self.totals

    def _damaged(self, reason: str) -> BackupDamaged:
        return BackupDamaged(f"behind byte {self.whole_bytes}, {reason}")

    def _check_head(self, magic: bytes, found: int) -> None:
        number = number_of(found)
        if magic != MAGIC or number is None:
            raise BackupDamaged(
                f"it is no backup: it does not begin with {MAGIC.decode()} and a format number"
            )
        if number != FORMAT:
            raise BackupDamaged(f"it has format {number}; this version reads format {FORMAT}")
        self._begun = True

    def _decoded(self, payload: bytes, crc: int) -> Record:
        self._crc = crc32c(payload, self._crc)
        if self._crc != crc:
            raise self._damaged("a part has a wrong checksum")
        try:
            record: Record = _decoder.decode(payload)
            self._shape.see(record)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise self._damaged(f"a part is not readable: {error}") from None
        except (Misplaced, FsError) as error:
            raise self._damaged(str(error)) from None
        return record


class Misplaced(Exception):
    """A record that cannot stand in its place; one line says why."""


class TreeShape:
    """Checks that records form a tree that a cluster can have."""

    def __init__(self) -> None:
        self.ended = False
        self.totals = Totals()
        self._header = False
        self._last: list[str] = []
        """The name that was seen last in each open directory."""
        self._path_bytes: list[int] = []
        """Length in bytes of the path of each open directory."""
        self._left = 0
        """Bytes of the present file that have not come yet."""
        self._links = 0

    def see(self, record: Record) -> None:
        """Takes the next record. Raises Misplaced, FsError, BackupDamaged."""
        kind = type(record)
        if kind is EndedEarly:
            raise BackupDamaged(f"its export ended early: {record.reason}")  # type: ignore[union-attr]
        if (kind is BackupHeader) == self._header or self.ended:
            raise Misplaced(f"a {kind.__name__} is out of its place")
        if self._left and kind is not Content:
            raise Misplaced(f"{self._left} bytes of a file are missing")
        self._header = True
        if kind is not BackupHeader:
            STEPS[kind](self, record)

    def directory(self, record: DirectoryBegin) -> None:
        if self._last or not self.totals.directories:
            self._enter(record.name)
        else:
            raise Misplaced("there is a second root")
        check_attributes(record)
        self._count(directories=1)

    def _enter(self, name: str) -> None:
        size = 0
        if self._last:
            size = self._next(name)
        elif name:
            raise Misplaced("the root has a name")
        self._last.append("")
        self._path_bytes.append(size)

    def _next(self, name: str) -> int:
        """Takes the next name of the open directory; returns the length of its path."""
        if not self._last:
            raise Misplaced("a name has no directory")
        if name <= self._last[-1]:
            raise Misplaced(f"the name {shown(name)} is not in the order of names")
        if len(split(f"/{name}")) != 1:
            raise Misplaced(f"the name {shown(name)} is a path")
        self._last[-1] = name
        size = self._path_bytes[-1] + 1 + len(name.encode())
        if size > PATH_MAX:
            raise Misplaced(f"a path has {size} bytes; {PATH_MAX} are the most")
        return size

    def leave(self, record: DirectoryEnd) -> None:
        if not self._last:
            raise Misplaced("no directory is open that could end")
        check_times(record)
        self._last.pop()
        self._path_bytes.pop()

    def file(self, record: FileBegin) -> None:
        self._next(record.name)
        check_attributes(record)
        check_times(record)
        check_block_size(record.block_size or BLOCK_SIZE)
        if not 1 <= record.replication <= REPLICATION_MAX or record.length < 0:
            raise Misplaced(f"{record.replication} replicas or {record.length} bytes are not possible")
        if record.link not in (0, self._links + 1):
            raise Misplaced(f"a file has number {record.link}; {self._links + 1} should come next")
        self._links += record.link > 0
        self._left = record.length
        self._count(files=1)

    def data(self, record: Content) -> None:
        if not 0 < len(record.data) <= self._left:
            raise Misplaced(f"{len(record.data)} bytes come where a file has {self._left} more")
        self._left -= len(record.data)
        self._count(size=len(record.data))

    def name(self, record: FurtherName) -> None:
        self._next(record.name)
        if not 1 <= record.link <= self._links:
            raise Misplaced(f"a name refers to file {record.link}, which has not come")
        self._count(names=1)

    def end(self, record: BackupEnd) -> None:
        if self._last or not self.totals.directories:
            raise Misplaced("a directory has not ended")
        if record.totals != self.totals:
            raise Misplaced("the counts at the end are not those of the records")
        self.ended = True

    def _count(self, **more: int) -> None:
        self.totals = self.totals.plus(**more)


STEPS: dict[type, Any] = {
    DirectoryBegin: TreeShape.directory, DirectoryEnd: TreeShape.leave, FileBegin: TreeShape.file,
    Content: TreeShape.data, FurtherName: TreeShape.name, BackupEnd: TreeShape.end,
}  # fmt: skip


def check_attributes(record: DirectoryBegin | FileBegin) -> None:
    if not 0 <= record.mode <= MODE_MAX:
        raise Misplaced(f"permission bits are between 0 and {MODE_MAX:o} (octal)")
    for owner in (record.owner, record.group):
        if len(owner.encode()) > NAME_MAX or "\0" in owner:
            raise Misplaced(f"an owner or group is at most {NAME_MAX} bytes without NUL")


def check_times(record: DirectoryEnd | FileBegin) -> None:
    if not (0 <= record.mtime_ns <= TIME_MAX and 0 <= record.atime_ns <= TIME_MAX):
        raise Misplaced(f"times are nanoseconds since 1970, at most {TIME_MAX}")
