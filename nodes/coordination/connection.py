"""One client's connection: handshake, then requests answered in order. Invalid handshakes and frames close it."""

from __future__ import annotations

import asyncio
from typing import cast

from nodes.coordination import jute, requests
from nodes.coordination.codes import Code, OperationRefused
from nodes.coordination.jute import MAX_FRAME, BadJute, JuteReader
from nodes.coordination.operations import RemoveSession
from nodes.coordination.service import ZooKeeperService
from nodes.coordination.words import ANSWERS, answer_word

HANDSHAKE_TIMEOUT_S = 3.0
OWED_BYTES = 2 * MAX_FRAME
FLUSH_TIMEOUT_S = 1.0
"""Time in which a closed connection must hand over the answers already sent."""


class ClientConnection(asyncio.Protocol):
    """Implements ZooKeeper's wire protocol for one client."""

    def __init__(self, service: ZooKeeperService):
        self._service = service
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._session = 0
        self._closing = False
        self._paused = False
        self._owed = 0
        """Bytes of answers that wait for a sync."""
        self._taking = False
        self._handshake: asyncio.TimerHandle | None = None

    # --- asyncio ------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._service.opened(self)
        self._handshake = asyncio.get_running_loop().call_later(HANDSHAKE_TIMEOUT_S, self.close)

    def connection_lost(self, exc: Exception | None) -> None:
        self._closing = True
        self._end_handshake()
        self._service.closed(self)
        if self._session:
            self._service.disconnected(self._session, self)

    def data_received(self, data: bytes) -> None:
        self._received += data
        self._go_on()

    def pause_writing(self) -> None:
        """Stops reading from a client that does not read; its session ends unless it recovers."""
        self._paused = True
        if self._transport is not None and not self._closing:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        self._paused = False
        if self._transport is not None and not self._closing:
            self._transport.resume_reading()
            self._go_on()

    # --- lines --------------------------------------------------------------------------------------------

    @property
    def address(self) -> str:
        """The client's host and port; empty without a connection."""
        peer = self._transport.get_extra_info("peername") if self._transport is not None else None
        return f"{peer[0]}:{peer[1]}" if peer else ""

    def send(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def close(self) -> None:
        self._closing = True
        self._end_handshake()
        if self._transport is not None and not self._transport.is_closing():
            self._transport.close()
            if self._transport.get_write_buffer_size():
                asyncio.get_running_loop().call_later(FLUSH_TIMEOUT_S, self._transport.abort)

    def _end_handshake(self) -> None:
        if self._handshake is not None:
            self._handshake.cancel()
            self._handshake = None

    # --- frames -------------------------------------------------------------------------------------------

    def _go_on(self) -> None:
        if self._taking:
            return
        self._taking = True
        try:
            self._take_frames()
        except BadJute:
            self.close()
        finally:
            self._taking = False

    def _take_frames(self) -> None:
        received, at = self._received, 0
        while not (self._closing or self._paused or self._owed > OWED_BYTES) and len(received) - at >= 4:
            if not self._session and bytes(received[at : at + 4]) in ANSWERS:
                self.send(answer_word(bytes(received[at : at + 4]), self._service))
                self.close()
                return
            length = int.from_bytes(received[at : at + 4])
            if length > MAX_FRAME:
                raise BadJute(f"a frame of {length} bytes")
            if len(received) - at - 4 < length:
                break
            self._on_frame(bytes(received[at + 4 : at + 4 + length]))
            at += 4 + length
        del received[:at]

    def _on_frame(self, frame: bytes) -> None:
        if self._session:
            self._on_request(JuteReader(frame))
        else:
            self._on_connect(requests.read_connect(frame))

    def _on_connect(self, asked: requests.Connect) -> None:
        self._end_handshake()
        service = self._service
        ahead = asked.session in service.tree.sessions.open and asked.zxid > service.tree.zxid
        if asked.session in service.refused or ahead:
            self.close()
            return
        if asked.session == 0 and not service.has_room():
            self.close()
            return
        session = service.connect(asked, self)
        if session is None:
            service.commits.after(lambda: self._send_last(requests.connect_answer(0, 0, bytes(16))))
            self._closing = True
            return
        self._session = session.number
        answer = requests.connect_answer(session.timeout_ms, session.number, session.password)
        service.commits.after(lambda: self.send(answer))

    def _send_last(self, data: bytes) -> None:
        self.send(data)
        self.close()

    def _on_request(self, reader: JuteReader) -> None:
        xid, code = reader.integer(), reader.integer()
        self._service.received(self._session)
        try:
            self._answer(xid, code, reader)
        except OperationRefused as refused:
            self._reply(xid, refused.code)

    def _reply(self, xid: int, code: int, body: bytes = b"") -> None:
        data = jute.reply(xid, self._service.tree.zxid, code, body)
        self._owed += len(data)
        self._service.commits.after(lambda: self._pay(data))

    def _pay(self, data: bytes) -> None:
        over, self._owed = self._owed > OWED_BYTES, self._owed - len(data)
        self.send(data)
        if over and self._owed <= OWED_BYTES:
            self._go_on()

    def _answer(self, xid: int, code: int, reader: JuteReader) -> None:
        if code == requests.PING:
            self._reply(requests.PING_XID, Code.OK)
        elif code == requests.AUTH:
            self._authenticate(xid, reader)
        elif code == requests.MULTI:
            multi, codes = requests.read_multi(reader)
            result = self._service.submit(self._session, multi)
            if result.code and not result.results:
                self._reply(xid, result.code)
            else:
                self._reply(xid, Code.OK, requests.multi_body(codes, result))
        else:
            self._one(xid, code, reader)

    def _authenticate(self, xid: int, reader: JuteReader) -> None:
        """As in ZooKeeper, any digest is accepted: it is compared with the lists of the nodes. Another scheme ends the connection."""
        try:
            self._service.authenticate(self._session, requests.read_auth(reader), self)
        except OperationRefused as refused:
            data = jute.reply(xid, self._service.tree.zxid, refused.code)
            self._service.commits.after(lambda: self._send_last(data))
        else:
            self._reply(xid, Code.OK)

    def _one(self, xid: int, code: int, reader: JuteReader) -> None:
        op = requests.read_operation(code, reader)
        result = self._service.submit(self._session, op)
        self._reply(xid, result.code, b"" if result.code else requests.body_of(code, result))
        if isinstance(op, RemoveSession):
            self._closing = True
            self._service.commits.after(self.close)
