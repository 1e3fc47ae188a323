"""Keys of the realms of a cluster, derived from its token, and the code that authenticates each frame.

The token stays with the control plane and the supervisors. A process has only the keys of its realms, from which neither the token nor
another realm's key can be computed.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from enum import StrEnum
from pathlib import Path

import msgspec

TOKEN_BYTES = 32
"""Smallest length of a token in bytes."""
TAG_BYTES = 16


class WeakToken(Exception):
    """The token is missing or shorter than 32 bytes; one line gives the reason."""


class WrongTag(Exception):
    """A frame was changed, repeated or left out on its way, or is not by the peer that was greeted."""


class Realm(StrEnum):
    """Who may dial whom: one key each, so that a client's key opens no connection between servers."""

    PEER = "peer"
    """Servers and nodes among each other."""
    CLIENT = "client"
    """Clients to servers and nodes."""
    SUPERVISOR = "supervisor"
    """The control plane to the supervisor of one container, with a key for each supervisor."""


class Keys(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The keys of one process; empty for a realm to which it does not belong."""

    peer: bytes = b""
    client: bytes = b""
    coordination: str = ""
    """Password of the digest authentication at the coordination service."""


def checked(token: bytes) -> bytes:
    """The token. Raises WeakToken."""
    if len(token) < TOKEN_BYTES:
        raise WeakToken(f"the token has {len(token)} bytes; {TOKEN_BYTES} are the least")
    return token


def read_token(path: Path) -> bytes:
    """Raises WeakToken, OSError."""
    try:
        return checked(path.read_bytes().strip())
    except WeakToken as weak:
        raise WeakToken(f"{path}: {weak}") from None


def derived(token: bytes, *purpose: str) -> bytes:
    """A key of 32 bytes for this purpose alone. Raises WeakToken."""
    return hmac.digest(checked(token), msgspec.msgpack.encode(["cloverlab", *purpose]), "sha256")


def supervisor_key(token: bytes, container: str) -> bytes:
    """Raises WeakToken."""
    return derived(token, Realm.SUPERVISOR, container)


def client_key(token: bytes) -> bytes:
    """Raises WeakToken."""
    return derived(token, Realm.CLIENT)


def coordination_password(token: bytes) -> str:
    """Raises WeakToken."""
    return derived(token, "coordination").hex()


COORDINATION_USER = "cloverlab"


def coordination_identity(password: str) -> str:
    """The identity of our servers in access control lists, as ZooKeeper's scheme digest writes it."""
    credential = f"{COORDINATION_USER}:{password}".encode()
    digest = hashlib.sha1(credential, usedforsecurity=False).digest()
    return f"{COORDINATION_USER}:{base64.b64encode(digest).decode()}"


def keys_of(token: bytes, serves: bool) -> Keys:
    """The keys of a server or node when it `serves`, else those of a client. Raises WeakToken."""
    if not serves:
        return Keys(client=client_key(token))
    return Keys(derived(token, Realm.PEER), client_key(token), coordination_password(token))


class Seal:
    """Authentication codes for the frames of one direction: keyed BLAKE2b over the frame's number and its payload.

    The number is not sent: both ends count, so a frame that is repeated, left out or reordered has a wrong code.
    """

    def __init__(self, key: bytes):
        self._keyed = hashlib.blake2b(key=key, digest_size=TAG_BYTES)
        self._number = 0

    def tag(self, payload: bytes | memoryview) -> bytes:
        """The code of the next frame."""
        code = self._keyed.copy()
        code.update(self._number.to_bytes(8, "little"))
        code.update(payload)
        self._number += 1
        return code.digest()

    def sealed(self, payload: bytes) -> bytes:
        """The next frame: its length, its code, its payload."""
        return b"".join(((TAG_BYTES + len(payload)).to_bytes(4, "little"), self.tag(payload), payload))

    def opened(self, framed: bytes) -> bytes:
        """The payload of the next frame that was received. Raises WrongTag."""
        payload = framed[TAG_BYTES:]
        if not hmac.compare_digest(framed[:TAG_BYTES], self.tag(payload)):
            raise WrongTag("a frame with a wrong authentication code")
        return payload
