"""A backup: the directory tree of a checkpoint with the content of its files, as a stream of records.

The stream begins with the magic and the format number (u16, little-endian). A part is the length (u32) and the CRC-32C (u32) of its payload, and
the payload: a record in MessagePack. Each checksum continues that of the part before, so that a part that is missing, repeated or out of its place
is found like a changed byte.

The tree is in depth-first order, the names of a directory in the order of their code points:

    backup    = BackupHeader directory BackupEnd
    directory = DirectoryBegin (directory | FileBegin Content* | FurtherName)* DirectoryEnd
"""

from __future__ import annotations

from struct import Struct

import msgspec
from crc32c import crc32c

from nodes.errors import Damaged
from nodes.format_number import stored

MAGIC = b"CLVRBKUP"
FORMAT = 1
HEAD = Struct("<8sH")
FRAME = Struct("<II")
PART_MAX = 1 << 20
"""Largest payload of a part, in bytes."""


class BackupDamaged(Damaged):
    """A backup that must not be restored; one line says where it is damaged."""


class _Record(msgspec.Struct, array_like=True, tag=True, frozen=True, forbid_unknown_fields=True):
    pass


class BackupHeader(_Record, array_like=True, tag=True, frozen=True):
    """The cluster and the checkpoint that the backup was made from."""

    cluster: str
    protocol: str
    version: str
    """Version of the program that wrote the backup."""
    checkpoint: str
    incarnation: int
    stamp_ns: int
    barriers: dict[str, int]
    """Serial number of the barrier by group."""


class DirectoryBegin(_Record, array_like=True, tag=True, frozen=True):
    """Begins a directory; its times follow with `DirectoryEnd`. The first one is the root and has no name."""

    name: str
    mode: int
    owner: str
    group: str


class DirectoryEnd(_Record, array_like=True, tag=True, frozen=True):
    """Ends the directory that began last and has not ended."""

    mtime_ns: int
    atime_ns: int


class FileBegin(_Record, array_like=True, tag=True, frozen=True):
    """A file at its first name. `Content` with `length` bytes follow."""

    name: str
    mode: int
    owner: str
    group: str
    mtime_ns: int
    atime_ns: int
    replication: int
    block_size: int
    """Block size in bytes; 0 for a file that was never written."""
    length: int
    link: int
    """Number by which `FurtherName` refers to the file, from 1; 0 for a file with one name."""


class Content(_Record, array_like=True, tag=True, frozen=True):
    data: bytes


class FurtherName(_Record, array_like=True, tag=True, frozen=True):
    """Another name of the file with this number (a hard link)."""

    name: str
    link: int


class Totals(msgspec.Struct, frozen=True, array_like=True):
    directories: int = 0
    """Directories with the root."""
    files: int = 0
    names: int = 0
    """Further names of files."""
    size: int = 0
    """Bytes of content."""

    def plus(self, directories: int = 0, files: int = 0, names: int = 0, size: int = 0) -> Totals:
        return Totals(
            self.directories + directories, self.files + files, self.names + names, self.size + size
        )


class BackupEnd(_Record, array_like=True, tag=True, frozen=True):
    """The last record, with the counts of all others."""

    totals: Totals


class EndedEarly(_Record, array_like=True, tag=True, frozen=True):
    """Ends a stream whose writer could not go on, in place of the rest."""

    reason: str


Record = (
    BackupHeader | DirectoryBegin | DirectoryEnd | FileBegin | Content | FurtherName | BackupEnd | EndedEarly
)

_encode = msgspec.msgpack.Encoder().encode


class Encoder:
    """Encodes the records of one backup in order."""

    def __init__(self) -> None:
        self._crc = 0

    @staticmethod
    def head() -> bytes:
        return HEAD.pack(MAGIC, stored(FORMAT))

    def part(self, record: Record) -> bytes:
        payload = _encode(record)
        assert len(payload) <= PART_MAX
        self._crc = crc32c(payload, self._crc)
        return FRAME.pack(len(payload), self._crc) + payload
