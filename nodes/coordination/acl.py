"""Access control lists of nodes: ZooKeeper's schemes world and digest, and auth for the client's own identities."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable

import msgspec

from nodes.coordination.codes import Code, Refused

READ, WRITE, CREATE, DELETE, ADMIN = 1, 2, 4, 8, 16
ALL_PERMISSIONS = 31
WORLD, DIGEST, AUTH = "world", "digest", "auth"
ENTRIES_MAX = 64


class Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    permissions: int
    scheme: str
    identity: str


Acl = tuple[Entry, ...]
OPEN: Acl = (Entry(ALL_PERMISSIONS, WORLD, "anyone"),)
Identities = frozenset[str]
"""Identities of scheme digest that a connection has authenticated."""
UNKNOWN: Identities = frozenset()


def identity_of(credential: bytes) -> str:
    """The identity of `user:password` in an access control list. Raises Refused(AUTH_FAILED)."""
    user, colon, _ = credential.partition(b":")
    if not colon:
        raise Refused(Code.AUTH_FAILED)
    digest = base64.b64encode(hashlib.sha1(credential, usedforsecurity=False).digest())
    return f"{user.decode('utf-8', 'replace')}:{digest.decode()}"


def owned_by(identity: str) -> Acl:
    return (Entry(ALL_PERMISSIONS, DIGEST, identity),)


def resolved(acl: Acl, identities: Identities) -> Acl:
    """The list with each entry of scheme auth replaced by the client's identities, as it is kept. Raises Refused(INVALID_ACL)."""
    found: list[Entry] = []
    for entry in acl:
        if entry.scheme == AUTH and identities:
            found += [Entry(entry.permissions, DIGEST, each) for each in sorted(identities)]
        elif _is_valid(entry):
            found.append(entry)
        else:
            raise Refused(Code.INVALID_ACL)
    if not 0 < len(found) <= ENTRIES_MAX:
        raise Refused(Code.INVALID_ACL)
    return tuple(found)


def _is_valid(entry: Entry) -> bool:
    if not 0 < entry.permissions <= ALL_PERMISSIONS:
        return False
    if entry.scheme == WORLD:
        return entry.identity == "anyone"
    return entry.scheme == DIGEST and entry.identity.count(":") == 1


def permits(acl: Iterable[Entry], permission: int, identities: Identities) -> bool:
    """Whether some entry for the client has one of these permissions."""
    return any(
        entry.permissions & permission and (entry.scheme == WORLD or entry.identity in identities)
        for entry in acl
    )


def masked(acl: Acl) -> Acl:
    """The list without the digests."""
    return tuple(
        msgspec.structs.replace(entry, identity=f"{entry.identity.partition(':')[0]}:x")
        if entry.scheme == DIGEST
        else entry
        for entry in acl
    )
