"""One TCP connection: the greeting of two processes of one cluster, then frames."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable

import msgspec

from nodes.wire import framing
from nodes.wire.codec import BadFrame
from nodes.wire.framing import (
    DIALLER,
    LISTENER,
    Challenge,
    Ends,
    Frames,
    FrameTooLong,
    HandshakeReply,
    Hello,
    UnknownPeer,
)
from nodes.wire.keys import TAG_BYTES, Keys, Realm, Seal, WrongTag

GREETING_S = 3.0
UNGREETED_MAX = 64
WRITE_MAX = 64 << 20
"""Number of unsent bytes beyond which a peer that does not read is given up."""
UNHEARD_MS = 2_000
"""A connection is given up when its other end acknowledges nothing for this time."""


class ProcessIdentity(msgspec.Struct, frozen=True):
    """A process in the greeting: it dials in one realm, and accepts the realms whose keys it has."""

    cluster: str
    name: str
    dials: Realm
    keys: dict[Realm, bytes]
    """Never an empty key."""


def identity_of(cluster: str, name: str, keys: Keys) -> ProcessIdentity:
    """The identity of a process of a cluster: a server or node dials its peers, a client dials as one."""
    found = {realm: key for realm, key in ((Realm.PEER, keys.peer), (Realm.CLIENT, keys.client)) if key}
    return ProcessIdentity(cluster, name, Realm.PEER if keys.peer else Realm.CLIENT, found)


def given_up_soon(raw: socket.socket) -> None:
    """Lets the kernel give up soon. By default it retransmits over a cut link at ever longer intervals, and notices a heal as late again as the
    cut lasted.

    A new connection notices it soon. The silent end also probes, so that no half-open connection remains.
    """
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_USER_TIMEOUT", UNHEARD_MS), ("TCP_KEEPIDLE", 1), ("TCP_KEEPINTVL", 1)):
        if hasattr(socket, name):
            raw.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


class PeerConnection(asyncio.Protocol):
    """`expected` is the peer that was dialled, empty for a connection that was accepted; `peer` is known after the greeting. `warn` is called with
    the peer, empty before the greeting, and a line."""

    def __init__(
        self,
        identity: ProcessIdentity,
        expected: str,
        on_open: Callable[[PeerConnection], None],
        on_payload: Callable[[PeerConnection, bytes], None],
        on_closed: Callable[[PeerConnection], None],
        warn: Callable[[str, str], None],
    ):
        self.expected = expected
        self.peer = ""
        self.realm = identity.dials
        self._identity = identity
        self._on_open = on_open
        self._on_payload = on_payload
        self._on_closed = on_closed
        self._warn = warn
        self._frames = Frames()
        self._nonce = os.urandom(framing.NONCE_BYTES)
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._ends = Ends(identity.cluster, identity.dials, identity.name, expected, b"", self._nonce)
        self._sending = self._receiving = Seal(b"")
        """Replaced by those of the connection once the peer is authenticated."""

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
        if self.dialled:
            return
        if self._identity.keys:
            self._greet(Challenge(framing.MAGIC, framing.VERSION, self._nonce))
        else:
            self._say(f"{self._from()}: refused, for there is no key here")
            transport.abort()

    def _greet(self, said: Challenge | Hello | HandshakeReply) -> None:
        self._write(framing.frame(msgspec.msgpack.encode(said)))

    @property
    def unsent(self) -> int:
        """Number of bytes that wait to be sent."""
        return self._transport.get_write_buffer_size() if self._transport is not None else 0

    def send(self, payload: bytes) -> None:
        """Sends one frame to the authenticated peer."""
        self._write(self._sending.sealed(payload))

    def _write(self, data: bytes) -> None:
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        if self.unsent > WRITE_MAX:
            self._say(f"{self.peer or 'a peer'} does not read: its connection is closed")
            transport.abort()
            return
        transport.write(data)

    def data_received(self, data: bytes) -> None:
        try:
            for payload in self._frames.feed(data):
                if self.peer:
                    self._on_payload(self, self._receiving.opened(payload))
                else:
                    self._on_greeting(payload)
        except (UnknownPeer, FrameTooLong, WrongTag, BadFrame) as error:
            self._say(f"{self.peer or self._from()}: {error}")
            self.close()

    def _on_greeting(self, payload: bytes) -> None:
        """Raises UnknownPeer."""
        me = self._identity
        if not self.dialled:
            hello = framing.greeting(payload, Hello)
            ends = framing.check_hello(hello, me.keys, me.cluster, me.name, self._nonce)
            key = me.keys[Realm(ends.realm)]
            self._greet(HandshakeReply(framing.proof(key, LISTENER, ends)))
            self._opened(ends, ends.dialler, LISTENER, DIALLER)
        elif not self._ends.listener_nonce:
            challenge = framing.greeting(payload, Challenge)
            framing.check_version(challenge)
            framing.check_nonce(challenge.nonce)
            self._ends = ends = msgspec.structs.replace(self._ends, listener_nonce=challenge.nonce)
            proof = framing.proof(me.keys[me.dials], DIALLER, ends)
            self._greet(
                Hello(
                    framing.MAGIC, framing.VERSION, me.cluster, me.dials, me.name, self.expected, self._nonce, proof
                )
            )  # fmt: skip
        else:
            welcome = framing.greeting(payload, HandshakeReply)
            framing.check_welcome(welcome, me.keys[me.dials], self._ends)
            self._opened(self._ends, self.expected, DIALLER, LISTENER)

    def _opened(self, ends: Ends, peer: str, own: str, other: str) -> None:
        key = self._identity.keys[Realm(ends.realm)]
        self._sending, self._receiving = framing.seal(key, own, ends), framing.seal(key, other, ends)
        self.peer, self.realm = peer, Realm(ends.realm)
        self._frames.limit = framing.FRAME_MAX + TAG_BYTES
        if self._timer is not None:
            self._timer.cancel()
        self._on_open(self)

    def _too_slow(self) -> None:
        self._say(f"{self._from()}: no greeting within {GREETING_S:g} s")
        self.close()

    def _say(self, line: str) -> None:
        self._warn(self.peer, line)

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


class Ungreeted:
    """Accepted connections before the end of their greeting. Beyond `UNGREETED_MAX` the oldest is closed, so that they use up no descriptors."""

    def __init__(self) -> None:
        self._open: dict[PeerConnection, None] = {}

    def add(self, connection: PeerConnection) -> PeerConnection:
        if len(self._open) >= UNGREETED_MAX:
            oldest = next(iter(self._open))
            self.remove(oldest)
            oldest.close()
        self._open[connection] = None
        return connection

    def remove(self, connection: PeerConnection) -> None:
        self._open.pop(connection, None)
