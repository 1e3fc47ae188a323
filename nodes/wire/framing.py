"""Frames on a byte stream, and mutual authentication of two processes of one cluster.

A frame is its length (u32, little-endian) and its payload. The accepting side sends a Challenge. The dialling side answers with a Hello that
proves the key of a realm, and the accepting side proves it in a Welcome. Both proofs are bound to both names, both nonces, the cluster, the realm,
the side and the version, so that a proof for one connection proves nothing on another. After the greeting each frame begins with an authentication
code (nodes/wire/keys.py) under a key of this connection and direction. A peer that begins with any other frame is unauthenticated.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterator, Mapping
from typing import TypeVar

import msgspec

from nodes.wire.keys import Realm, Seal

MAGIC = "cloverlab"
VERSION = 8
"""Version 2: a frame carries the causes of its messages. Version 3: kinds of messages have other names. Version 4: the greeting names both ends,
and each frame carries an authentication code. Version 5: the refusal of a journal node names its group. Version 6: the
opening of a replica says whether it is a copy. Version 7: journal nodes grant leases, and messages about leases name the group.
Version 8: a referral says that an inode has ended."""
FRAME_MAX = 16 << 20
HELLO_MAX = 4096
NONCE_BYTES = 16
DIALLER, LISTENER = "dialler", "listener"
SOLE_DIALLER = {Realm.SUPERVISOR: "control"}
"""The only name that may dial in a realm."""
NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")
"""As `Name` of nodes/config.py."""


class UnknownPeer(Exception):
    """The peer does not belong to this cluster; one line gives the reason."""


class FrameTooLong(Exception):
    """A frame announced more bytes than are allowed."""


class Challenge(msgspec.Struct, array_like=True):
    magic: str
    version: int
    nonce: bytes


class Hello(msgspec.Struct, array_like=True):
    magic: str
    version: int
    cluster: str
    realm: str
    dialler: str
    listener: str
    nonce: bytes
    proof: bytes


class HandshakeReply(msgspec.Struct, array_like=True):
    proof: bytes


Greeting = TypeVar("Greeting", Challenge, Hello, HandshakeReply)


def frame(payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "little") + payload


class Frames:
    """Splits a stream into payloads."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self.limit = HELLO_MAX
        """Largest accepted payload in bytes; raised once the peer is authenticated."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yields each whole payload. Raises FrameTooLong."""
        buffer = self._buffer
        buffer += data
        offset = 0
        try:
            while len(buffer) - offset >= 4:
                length = int.from_bytes(buffer[offset : offset + 4], "little")
                if length > self.limit:
                    raise FrameTooLong(f"a frame of {length} bytes; {self.limit} is the most")
                if len(buffer) - offset - 4 < length:
                    break
                offset += 4 + length
                yield bytes(buffer[offset - length : offset])
        finally:
            del buffer[:offset]


def greeting(payload: bytes, kind: type[Greeting]) -> Greeting:
    """Decodes a greeting. Raises UnknownPeer."""
    try:
        return msgspec.msgpack.decode(payload, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise UnknownPeer(f"what came first is no {kind.__name__}") from None


def check_version(greeted: Challenge | Hello) -> None:
    """Checks the peer's version. Raises UnknownPeer."""
    if greeted.magic != MAGIC:
        raise UnknownPeer(f"the peer speaks {greeted.magic[:32]!r}, not {MAGIC!r}")
    if greeted.version != VERSION:
        raise UnknownPeer(f"the peer speaks version {greeted.version}, this side version {VERSION}")


class Ends(msgspec.Struct, array_like=True, frozen=True):
    """The facts of one connection that its proofs and session keys are bound to."""

    cluster: str
    realm: str
    dialler: str
    listener: str
    listener_nonce: bytes
    dialler_nonce: bytes


def derive(key: bytes, side: str, purpose: str, ends: Ends) -> bytes:
    """32 bytes for one side and purpose of this connection, that only a holder of the realm's key can compute."""
    facts = msgspec.msgpack.encode([MAGIC, VERSION, side, purpose, ends])
    return hmac.digest(key, facts, "sha256")


def proof(key: bytes, side: str, ends: Ends) -> bytes:
    return derive(key, side, "proof", ends)


def seal(key: bytes, side: str, ends: Ends) -> Seal:
    """The seal of the frames that this side sends."""
    return Seal(derive(key, side, "session", ends))


def check_nonce(nonce: bytes) -> None:
    """Raises UnknownPeer."""
    if len(nonce) != NONCE_BYTES:
        raise UnknownPeer(f"a nonce of {len(nonce)} bytes; it has {NONCE_BYTES}")


def check_hello(hello: Hello, keys: Mapping[Realm, bytes], cluster: str, name: str, nonce: bytes) -> Ends:
    """Checks the dialling side's claims and proof. Raises UnknownPeer."""
    check_version(hello)
    check_nonce(hello.nonce)
    if hello.cluster != cluster:
        raise UnknownPeer(f"the peer belongs to the cluster {hello.cluster[:32]!r}, not to {cluster!r}")
    if hello.listener != name:
        raise UnknownPeer(f"the peer looks for {hello.listener[:32]!r}; this is {name}")
    if NAME.fullmatch(hello.dialler) is None or hello.dialler == name:
        raise UnknownPeer(f"{hello.dialler[:32]!r} cannot be a peer's name here")
    if hello.realm not in keys:
        raise UnknownPeer(f"the realm {hello.realm[:32]!r} is not served here")
    realm = Realm(hello.realm)
    if hello.dialler != SOLE_DIALLER.get(realm, hello.dialler):
        raise UnknownPeer(f"{hello.dialler} dials here; only {SOLE_DIALLER[realm]} may")
    ends = Ends(cluster, realm, hello.dialler, name, nonce, hello.nonce)
    if not hmac.compare_digest(hello.proof, proof(keys[realm], DIALLER, ends)):
        raise UnknownPeer(f"{hello.dialler} does not prove the cluster's token")
    return ends


def check_welcome(welcome: HandshakeReply, key: bytes, ends: Ends) -> None:
    """Checks the accepting side's proof. Raises UnknownPeer."""
    if not hmac.compare_digest(welcome.proof, proof(key, LISTENER, ends)):
        raise UnknownPeer(f"{ends.listener} does not prove the cluster's token")
