"""Frames on a byte stream, and how two processes of one cluster recognise each other.

A frame is its length (u32, little-endian) and its payload. Who accepts a connection sends a Challenge; who dialled answers with a Hello that proves
the token; the accepting side proves it in a Welcome. Whatever else comes first is a stranger.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from typing import TypeVar

import msgspec

MAGIC = "cloverlab"
VERSION = 2
"""2: a frame says what led to its messages."""
FRAME_MAX = 16 << 20
HELLO_MAX = 4096
NONCE_OCTETS = 16


class Stranger(Exception):
    """Whoever is at the other end does not belong to this cluster; one line says why."""


class FrameTooLong(Exception):
    """A frame announced more than may be sent."""


class Challenge(msgspec.Struct, array_like=True):
    magic: str
    version: int
    nonce: bytes


class Hello(msgspec.Struct, array_like=True):
    magic: str
    version: int
    cluster: str
    name: str
    nonce: bytes
    proof: bytes


class Welcome(msgspec.Struct, array_like=True):
    name: str
    proof: bytes


Greeting = TypeVar("Greeting", Challenge, Hello, Welcome)


def frame(payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "little") + payload


class Frames:
    """Splits a stream into payloads."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self.limit = HELLO_MAX
        """The longest payload that is taken; raised once the peer is known."""

    def feed(self, octets: bytes) -> Iterator[bytes]:
        """Yields each whole payload. Raises FrameTooLong."""
        buffer = self._buffer
        buffer += octets
        offset = 0
        try:
            while len(buffer) - offset >= 4:
                length = int.from_bytes(buffer[offset : offset + 4], "little")
                if length > self.limit:
                    raise FrameTooLong(f"a frame of {length} octets; {self.limit} is the most")
                if len(buffer) - offset - 4 < length:
                    break
                offset += 4 + length
                yield bytes(buffer[offset - length : offset])
        finally:
            del buffer[:offset]


def greeting(payload: bytes, kind: type[Greeting]) -> Greeting:
    """Raises Stranger."""
    try:
        return msgspec.msgpack.decode(payload, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise Stranger(f"what came first is no {kind.__name__}") from None


def check_version(greeted: Challenge | Hello) -> None:
    """Raises Stranger."""
    if greeted.magic != MAGIC:
        raise Stranger(f"the peer speaks {greeted.magic[:32]!r}, not {MAGIC!r}")
    if greeted.version != VERSION:
        raise Stranger(f"the peer speaks version {greeted.version}, this side version {VERSION}")


def proof(token: bytes, nonce: bytes, *words: str) -> bytes:
    """What only a holder of the token can say to this nonce."""
    return hmac.digest(token, nonce + "\0".join(words).encode(), "sha256")


def check_hello(hello: Hello, token: bytes, nonce: bytes, cluster: str) -> None:
    """Raises Stranger."""
    check_version(hello)
    if hello.cluster != cluster:
        raise Stranger(f"the peer belongs to the cluster {hello.cluster[:32]!r}, not to {cluster!r}")
    if not hmac.compare_digest(hello.proof, proof(token, nonce, cluster, hello.name)):
        raise Stranger(f"{hello.name[:32]!r} does not prove the cluster's token")


def check_welcome(welcome: Welcome, token: bytes, nonce: bytes, cluster: str, name: str) -> None:
    """Raises Stranger."""
    if welcome.name != name:
        raise Stranger(f"{welcome.name[:32]!r} answers where {name} was expected")
    if not hmac.compare_digest(welcome.proof, proof(token, nonce, cluster, name, "welcome")):
        raise Stranger(f"{name} does not prove the cluster's token")
