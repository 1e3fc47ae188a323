"""Access control lists of nodes: ZooKeeper's schemes world and digest, and auth for the client's own identities."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable

import msgspec

from nodes.coordination.codes import Code, OperationRefused

READ, WRITE, CREATE, DELETE, ADMIN = 1, 2, 4, 8, 16
ALL_PERMISSIONS = 31
WORLD, DIGEST, AUTH = "world", "digest", "auth"
ENTRIES_MAX = 64


class AclEntry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    permissions: int
    scheme: str
    identity: str


Acl = tuple[AclEntry, ...]
OPEN: Acl = (AclEntry(ALL_PERMISSIONS, WORLD, "anyone"),)
Identities = frozenset[str]
"""Identities of scheme digest that a connection has authenticated."""
UNKNOWN: Identities = frozenset()


def identity_of(credential: bytes) -> str:
    """The identity of `user:password` in an access control list. Raises OperationRefused(AUTH_FAILED)."""
    user, colon, _ = credential.partition(b":")
    if not colon:
        raise OperationRefused(Code.AUTH_FAILED)
    digest = base64.b64encode(hashlib.sha1(credential, usedforsecurity=False).digest())
    return f"{user.decode('utf-8', 'replace')}:{digest.decode()}"


def owned_by(identity: str) -> Acl:
    return (AclEntry(ALL_PERMISSIONS, DIGEST, identity),)


def resolved(acl: Acl, identities: Identities) -> Acl:
    """The list with each entry of scheme auth replaced by the client's identities, as it is kept. Raises OperationRefused(INVALID_ACL)."""
    found: list[AclEntry] = []
    for entry in acl:
        if entry.scheme == AUTH and identities:
            found += [AclEntry(entry.permissions, DIGEST, each) for each in sorted(identities)]
        elif _is_valid(entry):
            found.append(entry)
        else:
            raise OperationRefused(Code.INVALID_ACL)
    if not 0 < len(found) <= ENTRIES_MAX:
        raise OperationRefused(Code.INVALID_ACL)
    return tuple(found)


def _is_valid(entry: AclEntry) -> bool:
    if not 0 < entry.permissions <= ALL_PERMISSIONS:
        return False
    if entry.scheme == WORLD:
        return entry.identity == "anyone"
    return entry.scheme == DIGEST and entry.identity.count(":") == 1


def permits(acl: Iterable[AclEntry], permission: int, identities: Identities) -> bool:
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
