"""Jute, ZooKeeper's encoding: big-endian numbers, strings and buffers with their length before them."""

from __future__ import annotations

import struct

from nodes.coordination.operations import ZnodeStat

_INT = struct.Struct("!i")
_LONG = struct.Struct("!q")
_STAT = struct.Struct("!qqqqiiiqiiq")
_REPLY = struct.Struct("!iqi")
MAX_FRAME = 1024 * 1024
"""ZooKeeper's jute.maxbuffer."""


class BadJute(Exception):
    """A peer's bytes that are not jute; one line gives the reason."""


class JuteReader:
    """Reads one frame from its beginning to its end. Every method raises BadJute."""

    def __init__(self, frame: bytes):
        self._frame = frame
        self._at = 0

    @property
    def left(self) -> int:
        return len(self._frame) - self._at

    def integer(self) -> int:
        return self._number(_INT)

    def long(self) -> int:
        return self._number(_LONG)

    def _number(self, shape: struct.Struct) -> int:
        try:
            (number,) = shape.unpack_from(self._frame, self._at)
        except struct.error:
            raise BadJute("the frame ends inside a number") from None
        self._at += shape.size
        return int(number)

    def boolean(self) -> bool:
        if self._at >= len(self._frame):
            raise BadJute("the frame ends before a boolean")
        self._at += 1
        return self._frame[self._at - 1] != 0

    def buffer(self) -> bytes:
        """A null buffer reads as an empty one."""
        length = self.integer()
        if length < 0:
            return b""
        if length > self.left:
            raise BadJute("the frame ends inside a buffer")
        self._at += length
        return self._frame[self._at - length : self._at]

    def string(self) -> str:
        try:
            return self.buffer().decode()
        except UnicodeDecodeError:
            raise BadJute("a string is not UTF-8") from None

    def count(self) -> int:
        """Length of a list. Each element takes at least one byte, so that a larger length is invalid."""
        count = self.integer()
        if count > self.left:
            raise BadJute("a list is longer than its frame")
        return count

    def strings(self) -> list[str]:
        return [self.string() for _ in range(self.count())]


def integer(number: int) -> bytes:
    return _INT.pack(number)


def long(number: int) -> bytes:
    return _LONG.pack(number)


def buffer(data: bytes) -> bytes:
    return _INT.pack(len(data)) + data


def string(text: str) -> bytes:
    return buffer(text.encode())


def stat(one: ZnodeStat) -> bytes:
    return _STAT.pack(
        one.czxid, one.mzxid, one.ctime, one.mtime, one.version, one.cversion, one.aversion,
        one.ephemeral_owner, one.data_length, one.num_children, one.pzxid,
    )  # fmt: skip


def frame(body: bytes) -> bytes:
    return _INT.pack(len(body)) + body


def reply(xid: int, zxid: int, code: int, body: bytes = b"") -> bytes:
    """A framed answer: header and, when the code is 0, the body."""
    return _INT.pack(_REPLY.size + len(body)) + _REPLY.pack(xid, zxid, code) + body
