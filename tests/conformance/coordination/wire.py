"""A minimal client of ZooKeeper's wire protocol that shows the order of frames, which kazoo hides."""

from __future__ import annotations

import socket
import struct
from typing import NamedTuple


class Frame(NamedTuple):
    xid: int
    zxid: int
    code: int
    body: bytes


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("!i", len(data)) + data


OPEN_ACL = struct.pack("!ii", 1, 31) + text("world") + text("anyone")


class Wire:
    """One connection; `session` and `password` of another one resume its session."""

    def __init__(
        self,
        port: int,
        timeout_ms: int = 10_000,
        session: int = 0,
        password: bytes = bytes(16),
        zxid: int = 0,
    ):
        self._socket = socket.create_connection(("127.0.0.1", port), 10)
        body = (
            struct.pack("!iqiq", 0, zxid, timeout_ms, session)
            + struct.pack("!i", len(password))
            + password
            + b"\0"
        )
        self._send(body)
        answer = self._frame()
        _, self.timeout_ms, self.session, length = struct.unpack_from("!iiqi", answer)
        self.password = answer[20 : 20 + length]
        self._xid = 0

    def _send(self, body: bytes) -> None:
        self._socket.sendall(struct.pack("!i", len(body)) + body)

    def _exactly(self, length: int) -> bytes:
        data = b""
        while len(data) < length:
            part = self._socket.recv(length - len(data))
            if not part:
                raise ConnectionError("closed")
            data += part
        return data

    def _frame(self) -> bytes:
        return self._exactly(struct.unpack("!i", self._exactly(4))[0])

    def ask(self, code: int, body: bytes = b"") -> None:
        self._xid += 1
        self._send(struct.pack("!ii", self._xid, code) + body)

    def read(self) -> Frame:
        data = self._frame()
        return Frame(*struct.unpack_from("!iqi", data), data[16:])

    def call(self, code: int, body: bytes = b"") -> Frame:
        """The next frame, which must be the answer to this call."""
        self.ask(code, body)
        frame = self.read()
        assert frame.xid == self._xid, f"expected the answer to {self._xid}, got {frame}"
        return frame

    def create(self, path: str, flags: int = 0) -> Frame:
        return self.call(1, text(path) + text("") + OPEN_ACL + struct.pack("!i", flags))

    def close(self) -> None:
        self._socket.close()


def watch_of(frame: Frame) -> tuple[int, str]:
    """Type and path of a watch's event."""
    assert frame.xid == -1, frame
    kind, _, length = struct.unpack_from("!iii", frame.body)
    return kind, frame.body[12 : 12 + length].decode()
