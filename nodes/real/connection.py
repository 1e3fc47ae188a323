"""One TCP connection: the greeting of two processes of one cluster, then frames."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable

import msgspec

from nodes.wire import framing
from nodes.wire.codec import BadFrame
from nodes.wire.framing import Challenge, Frames, FrameTooLong, Hello, UnknownPeer, Welcome

GREETING_S = 3.0
WRITE_MAX = 64 << 20
"""Number of unsent bytes beyond which a peer that does not read is given up."""
UNHEARD_MS = 2_000
"""A connection is given up when its other end acknowledges nothing for this time."""


class Identity(msgspec.Struct, frozen=True):
    cluster: str
    name: str
    token: bytes


def given_up_soon(raw: socket.socket) -> None:
    """Lets the kernel give up soon. By default it retransmits over a cut link at ever longer intervals, and notices a heal as late again as the
    cut lasted.

    A new connection notices it soon. The silent end also probes, so that no half-open connection remains.
    """
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_USER_TIMEOUT", UNHEARD_MS), ("TCP_KEEPIDLE", 1), ("TCP_KEEPINTVL", 1)):
        if hasattr(socket, name):
            raw.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


class Connection(asyncio.Protocol):
    """`expected` is the peer that was dialled, empty for a connection that was accepted; `peer` is known after the greeting."""

    def __init__(
        self,
        identity: Identity,
        expected: str,
        on_open: Callable[[Connection], None],
        on_payload: Callable[[Connection, bytes], None],
        on_closed: Callable[[Connection], None],
        warn: Callable[[str], None],
    ):
        self.expected = expected
        self.peer = ""
        self._identity = identity
        self._on_open = on_open
        self._on_payload = on_payload
        self._on_closed = on_closed
        self._warn = warn
        self._frames = Frames()
        self._nonce = os.urandom(framing.NONCE_BYTES)
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._greeted = False

    @property
    def dialled(self) -> bool:
        return bool(self.expected)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._transport = transport
        raw = transport.get_extra_info("socket")
        if raw is not None:
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            given_up_soon(raw)
        self._timer = asyncio.get_running_loop().call_later(GREETING_S, self._too_slow)
        if not self.dialled:
            self._greet(Challenge(framing.MAGIC, framing.VERSION, self._nonce))

    def _greet(self, said: Challenge | Hello | Welcome) -> None:
        self.write(framing.frame(msgspec.msgpack.encode(said)))

    @property
    def unsent(self) -> int:
        """Number of bytes that wait to be sent."""
        return self._transport.get_write_buffer_size() if self._transport is not None else 0

    def write(self, data: bytes) -> None:
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        if self.unsent > WRITE_MAX:
            self._warn(f"{self.peer or 'a peer'} does not read: its connection is closed")
            transport.abort()
            return
        transport.write(data)

    def data_received(self, data: bytes) -> None:
        try:
            for payload in self._frames.feed(data):
                if self.peer:
                    self._on_payload(self, payload)
                else:
                    self._on_greeting(payload)
        except (UnknownPeer, FrameTooLong, BadFrame) as error:
            self._warn(f"{self.peer or self._from()}: {error}")
            self.close()

    def _on_greeting(self, payload: bytes) -> None:
        me = self._identity
        if not self.dialled:
            hello = framing.greeting(payload, Hello)
            framing.check_hello(hello, me.token, self._nonce, me.cluster)
            self._greet(
                Welcome(me.name, framing.proof(me.token, hello.nonce, me.cluster, me.name, "welcome"))
            )
            self._opened(hello.name)
        elif not self._greeted:
            challenge = framing.greeting(payload, Challenge)
            framing.check_version(challenge)
            proof = framing.proof(me.token, challenge.nonce, me.cluster, me.name)
            self._greet(Hello(framing.MAGIC, framing.VERSION, me.cluster, me.name, self._nonce, proof))
            self._greeted = True
        else:
            welcome = framing.greeting(payload, Welcome)
            framing.check_welcome(welcome, me.token, self._nonce, me.cluster, self.expected)
            self._opened(self.expected)

    def _opened(self, peer: str) -> None:
        self.peer = peer
        self._frames.limit = framing.FRAME_MAX
        if self._timer is not None:
            self._timer.cancel()
        self._on_open(self)

    def _too_slow(self) -> None:
        self._warn(f"{self._from()}: no greeting within {GREETING_S:g} s")
        self.close()

    def _from(self) -> str:
        if self.expected:
            return self.expected
        where = self._transport.get_extra_info("peername") if self._transport else None
        return f"an unknown peer at {where[0]}:{where[1]}" if where else "an unknown peer"

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._on_closed(self)
