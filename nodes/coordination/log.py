"""The synced log of the tree's changes, with group commit.

One file `log-NNNNNNNN` holds everything: head (magic, format number), an image of the tree, then batches
of changes. When it has grown by `ROTATE_OCTETS` the next file begins with a new image and the old one goes.
A record is `u32 length, u32 CRC-32C, msgpack`; what was synced together is one record, so a torn one is
always the last.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

import crc32c
import msgspec

from nodes.coordination.image import Image, dump, load
from nodes.coordination.operations import Change
from nodes.coordination.tree import Tree

MAGIC = b"CLVRTREE"
FORMAT = 1
ROTATE_OCTETS = 8 * 1024 * 1024
_HEAD = struct.Struct("!8sI")
_RECORD = struct.Struct("!II")


class Logged(msgspec.Struct, frozen=True, array_like=True):
    """One change, and the zxid it got."""

    zxid: int
    session: int
    at_ms: int
    op: Change


class LogRefused(Exception):
    """A log that is not ours or is damaged; one line with file and offset. The file is left as it is."""


_batches = msgspec.msgpack.Decoder(list[Logged])
_images = msgspec.msgpack.Decoder(Image)
_encoder = msgspec.msgpack.Encoder()


def record(payload: bytes) -> bytes:
    return _RECORD.pack(len(payload), crc32c.crc32c(payload)) + payload


def payload_at(octets: bytes, offset: int) -> bytes | None:
    """The whole record's payload there, or None."""
    if offset + _RECORD.size > len(octets):
        return None
    length, crc = _RECORD.unpack_from(octets, offset)
    start = offset + _RECORD.size
    if not 0 < length <= len(octets) - start:
        return None
    payload = octets[start : start + length]
    return payload if crc32c.crc32c(payload) == crc else None


class Log:
    """Opened once by the server. `write` blocks until durable: it belongs in a thread of its own."""

    def __init__(self, directory: Path, rotate_octets: int = ROTATE_OCTETS):
        self._directory = directory
        self._rotate_octets = rotate_octets
        self._number = 0
        self._size = self._base = 0
        self._fd = -1
        self.cut_octets = 0
        """Length of the torn tail that opening cut off."""

    def open(self, tree: Tree, now_ms: int) -> None:
        """Restores a fresh tree from the newest file, and begins the next. Raises LogRefused, OSError.

        What was read may be on no disk: the life before was killed before its sync, or a sync of it failed, and then no later one brings it there.
        """
        self._directory.mkdir(parents=True, exist_ok=True)
        for leftover in self._directory.glob("log-*.tmp"):
            leftover.unlink()
        files = sorted(self._directory.glob("log-????????"))
        if not files:
            self.begin(_encoder.encode(dump(tree)))
            return
        newest = files[-1]
        self._number = int(newest.name[4:])
        end = self._restore(tree, newest, now_ms)
        for old in files[:-1]:
            old.unlink()
        self.cut_octets = self._size - end
        self.begin(_encoder.encode(dump(tree)))

    def _restore(self, tree: Tree, file: Path, now_ms: int) -> int:
        """Returns the offset after the last whole record."""
        octets = file.read_bytes()
        self._size = len(octets)
        self._check_head(file, octets)
        image = payload_at(octets, _HEAD.size)
        if image is None:
            raise LogRefused(f"{file} is damaged at offset {_HEAD.size}: the image of the tree is not whole")
        try:
            load(tree, _images.decode(image), now_ms)
        except (msgspec.MsgspecError, KeyError) as error:
            raise LogRefused(f"{file} is damaged at offset {_HEAD.size}: {error}") from None
        self._base = offset = _HEAD.size + _RECORD.size + len(image)
        while (payload := payload_at(octets, offset)) is not None:
            self._replay(tree, file, offset, payload)
            offset += _RECORD.size + len(payload)
        follower = self._follower(octets, offset)
        if follower is not None:
            raise LogRefused(f"{file} is damaged at offset {offset}: whole records follow at {follower}")
        tree.sessions.touch_all(now_ms)
        return offset

    def _check_head(self, file: Path, octets: bytes) -> None:
        if len(octets) < _HEAD.size or octets[:8] != MAGIC:
            raise LogRefused(f"{file} is not a coordination log: wrong magic at offset 0")
        number = _HEAD.unpack_from(octets)[1]
        if number != FORMAT:
            raise LogRefused(f"{file} has format {number} at offset 8, this program reads format {FORMAT}")

    def _replay(self, tree: Tree, file: Path, offset: int, payload: bytes) -> None:
        try:
            batch = _batches.decode(payload)
        except msgspec.MsgspecError as error:
            raise LogRefused(f"{file} is damaged at offset {offset}: {error}") from None
        for one in batch:
            result = tree.submit(one.session, one.op, one.at_ms)
            if result.code or result.zxid != one.zxid:
                raise LogRefused(f"{file} at offset {offset}: change {one.zxid} does not follow {tree.zxid}")

    def _follower(self, octets: bytes, bad: int) -> int | None:
        """Where a whole record lies after the bad one: then it is damage in the middle, not a torn tail."""
        for offset in range(bad + 1, len(octets) - _RECORD.size):
            if not _may_be_batch(octets, offset + _RECORD.size):
                continue
            payload = payload_at(octets, offset)
            if payload is None:
                continue
            try:
                _batches.decode(payload)
            except msgspec.MsgspecError:
                continue
            return offset
        return None

    @property
    def full(self) -> bool:
        return self._size - self._base >= self._rotate_octets

    def write(self, batch: list[Logged]) -> None:
        """Durable when it returns. Raises OSError, after which the log must not be used."""
        octets = record(_encoder.encode(batch))
        _write_all(self._fd, octets)
        os.fdatasync(self._fd)
        self._size += len(octets)

    def begin(self, image: bytes) -> None:
        """Begins the next file with an encoded image; the old one is removed when the new one is durable."""
        old = self._directory / f"log-{self._number:08d}"
        self._number += 1
        file = self._directory / f"log-{self._number:08d}"
        temporary = file.with_suffix(".tmp")
        fd = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        octets = _HEAD.pack(MAGIC, FORMAT) + record(image)
        _write_all(fd, octets)
        os.fsync(fd)
        temporary.rename(file)
        _sync_directory(self._directory)
        self.close()
        old.unlink(missing_ok=True)
        self._fd = fd
        self._size = self._base = len(octets)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def image_octets(tree: Tree) -> bytes:
    """What `Log.begin` wants."""
    return _encoder.encode(dump(tree))


def _may_be_batch(octets: bytes, start: int) -> bool:
    """A list of changes, each a list of four: cheap, so that looking at every offset stays quick."""
    if octets[start] == 0xDC:
        start += 2
    elif octets[start] == 0xDD:
        start += 4
    elif not 0x91 <= octets[start] <= 0x9F:
        return False
    return start + 1 < len(octets) and octets[start + 1] == 0x94


def _write_all(fd: int, octets: bytes) -> None:
    view = memoryview(octets)
    while view:
        view = view[os.write(fd, view) :]


def _sync_directory(directory: Path) -> None:
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
