"""Frames on a byte stream, and mutual authentication of two processes of one cluster.

A frame is its length (u32, little-endian) and its payload. The accepting side sends a Challenge. The dialling side answers with a Hello that
proves the token, and the accepting side proves it in a Welcome. A peer that begins with any other frame is unauthenticated.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from typing import TypeVar

import msgspec

MAGIC = "cloverlab"
VERSION = 3
"""Version 2: a frame carries the causes of its messages. Version 3: kinds of messages have other names."""
FRAME_MAX = 16 << 20
HELLO_MAX = 4096
NONCE_BYTES = 16


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


def proof(token: bytes, nonce: bytes, *words: str) -> bytes:
    """A proof for this nonce that only a holder of the token can compute."""
    return hmac.digest(token, nonce + "\0".join(words).encode(), "sha256")


def check_hello(hello: Hello, token: bytes, nonce: bytes, cluster: str) -> None:
    """Checks the dialling side's proof. Raises UnknownPeer."""
    check_version(hello)
    if hello.cluster != cluster:
        raise UnknownPeer(f"the peer belongs to the cluster {hello.cluster[:32]!r}, not to {cluster!r}")
    if not hmac.compare_digest(hello.proof, proof(token, nonce, cluster, hello.name)):
        raise UnknownPeer(f"{hello.name[:32]!r} does not prove the cluster's token")


def check_welcome(welcome: Welcome, token: bytes, nonce: bytes, cluster: str, name: str) -> None:
    """Checks the accepting side's proof. Raises UnknownPeer."""
    if welcome.name != name:
        raise UnknownPeer(f"{welcome.name[:32]!r} answers where {name} was expected")
    if not hmac.compare_digest(welcome.proof, proof(token, nonce, cluster, name, "welcome")):
        raise UnknownPeer(f"{name} does not prove the cluster's token")
