"""The synced log of the tree's changes, with group commit.

One file `log-NNNNNNNN` holds everything: head (magic, format number), an image of the tree, then batches of changes. When it has grown by
`ROTATE_BYTES` the next file begins with a new image and the old one is removed. A record is `u32 length, u32 CRC-32C, msgpack`; changes that
were synced together form one record, so a torn one is always the last.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

import crc32c
import msgspec

from nodes.coordination.image import Image, dump, load
from nodes.coordination.operations import Change
from nodes.coordination.tree import ZnodeTree
from nodes.format_number import of_other_version

MAGIC = b"CLVRTREE"
FORMAT = 2
"""Format 2: nodes have access control lists."""
ROTATE_BYTES = 8 * 1024 * 1024
_HEAD = struct.Struct("!8sI")
_RECORD = struct.Struct("!II")


class Logged(msgspec.Struct, frozen=True, array_like=True):
    """One change, and the zxid it got."""

    zxid: int
    session: int
    at_ms: int
    op: Change


class LogRefused(Exception):
    """A foreign or damaged log; one line names file and offset. The file stays unchanged."""


_batches = msgspec.msgpack.Decoder(list[Logged])
_images = msgspec.msgpack.Decoder(Image)
_encoder = msgspec.msgpack.Encoder()


def record(payload: bytes) -> bytes:
    return _RECORD.pack(len(payload), crc32c.crc32c(payload)) + payload


def payload_at(data: bytes, offset: int) -> bytes | None:
    """The whole record's payload at this offset, or None."""
    if offset + _RECORD.size > len(data):
        return None
    length, crc = _RECORD.unpack_from(data, offset)
    start = offset + _RECORD.size
    if not 0 < length <= len(data) - start:
        return None
    payload = data[start : start + length]
    return payload if crc32c.crc32c(payload) == crc else None


class TransactionLog:
    """Opened once by the server. `write` blocks until durable: it belongs in a thread of its own."""

    def __init__(self, directory: Path, rotate_bytes: int = ROTATE_BYTES):
        self._directory = directory
        self._rotate_bytes = rotate_bytes
        self._number = 0
        self._size = self._base = 0
        self._fd = -1
        self.cut_bytes = 0
        """Length in bytes of the torn tail that opening cut off."""

    def open(self, tree: ZnodeTree, now_ms: int) -> None:
        """Restores a fresh tree from the newest file, and begins the next. Raises LogRefused, OSError.

        Changes that were read may not be on the disk: the earlier process was killed before its sync, or a sync of it failed, and then no
        later one writes them.
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
        self.cut_bytes = self._size - end
        self.begin(_encoder.encode(dump(tree)))

    def _restore(self, tree: ZnodeTree, file: Path, now_ms: int) -> int:
        """Returns the offset after the last whole record."""
        data = file.read_bytes()
        self._size = len(data)
        self._check_head(file, data)
        image = payload_at(data, _HEAD.size)
        if image is None:
            raise LogRefused(f"{file} is damaged at offset {_HEAD.size}: the image of the tree is not whole")
        try:
            load(tree, _images.decode(image), now_ms)
        except (msgspec.MsgspecError, KeyError) as error:
            raise LogRefused(f"{file} is damaged at offset {_HEAD.size}: {error}") from None
        self._base = offset = _HEAD.size + _RECORD.size + len(image)
        while (payload := payload_at(data, offset)) is not None:
            self._replay(tree, file, offset, payload)
            offset += _RECORD.size + len(payload)
        follower = self._follower(data, offset)
        if follower is not None:
            raise LogRefused(f"{file} is damaged at offset {offset}: whole records follow at {follower}")
        tree.sessions.touch_all(now_ms)
        return offset

    def _check_head(self, file: Path, data: bytes) -> None:
        if len(data) < _HEAD.size or data[:8] != MAGIC:
            raise LogRefused(f"{file} is not a coordination log: wrong magic at offset 0")
        number = _HEAD.unpack_from(data)[1]
        if number != FORMAT:
            raise LogRefused(f"{file} {of_other_version(number, FORMAT)}")

    def _replay(self, tree: ZnodeTree, file: Path, offset: int, payload: bytes) -> None:
        try:
            batch = _batches.decode(payload)
        except msgspec.MsgspecError as error:
            raise LogRefused(f"{file} is damaged at offset {offset}: {error}") from None
        for one in batch:
            result = tree.replay(one.session, one.op, one.at_ms)
            if result.code or result.zxid != one.zxid:
                raise LogRefused(f"{file} at offset {offset}: change {one.zxid} does not follow {tree.zxid}")

    def _follower(self, data: bytes, bad: int) -> int | None:
        """Offset of a whole record after the bad one: the damage is then in the middle, not a torn tail."""
        for offset in range(bad + 1, len(data) - _RECORD.size):
            if not _may_be_batch(data, offset + _RECORD.size):
                continue
            payload = payload_at(data, offset)
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
        return self._size - self._base >= self._rotate_bytes

    def write(self, batch: list[Logged]) -> None:
        """Writes a batch; durable on return. Raises OSError, after which the log must not be used."""
        data = record(_encoder.encode(batch))
        _write_all(self._fd, data)
        os.fdatasync(self._fd)
        self._size += len(data)

    def begin(self, image: bytes) -> None:
        """Begins the next file with an encoded image; the old one is removed when the new one is durable."""
        old = self._directory / f"log-{self._number:08d}"
        self._number += 1
        file = self._directory / f"log-{self._number:08d}"
        temporary = file.with_suffix(".tmp")
        fd = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        data = _HEAD.pack(MAGIC, FORMAT) + record(image)
        _write_all(fd, data)
        os.fsync(fd)
        temporary.rename(file)
        _sync_directory(self._directory)
        self.close()
        old.unlink(missing_ok=True)
        self._fd = fd
        self._size = self._base = len(data)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def image_bytes(tree: ZnodeTree) -> bytes:
    """The encoded image for `TransactionLog.begin`."""
    return _encoder.encode(dump(tree))


def _may_be_batch(data: bytes, start: int) -> bool:
    """Whether the bytes can be a list of changes, each a list of four: a cheap test, so that checking every offset stays fast."""
    if data[start] == 0xDC:
        start += 2
    elif data[start] == 0xDD:
        start += 4
    elif not 0x91 <= data[start] <= 0x9F:
        return False
    return start + 1 < len(data) and data[start + 1] == 0x94


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _sync_directory(directory: Path) -> None:
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
