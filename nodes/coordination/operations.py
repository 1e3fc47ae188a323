"""Operations on the tree and their results. Changes among them are also in the server's log."""

from __future__ import annotations

import msgspec

from nodes.coordination.acl import OPEN, Acl


class CreateZnode(msgspec.Struct, frozen=True, array_like=True, tag="create", gc=False):
    """A sequential node's name is `path` and ten digits that count the creations under its parent."""

    path: str
    data: bytes = b""
    ephemeral: bool = False
    sequential: bool = False
    acl: Acl = OPEN


class DeleteZnode(msgspec.Struct, frozen=True, array_like=True, tag="delete", gc=False):
    """Deletes a node. Version -1 fits every version, here and below."""

    path: str
    version: int = -1


class SetData(msgspec.Struct, frozen=True, array_like=True, tag="set", gc=False):
    path: str
    data: bytes
    version: int = -1


class SetAcl(msgspec.Struct, frozen=True, array_like=True, tag="set_acl", gc=False):
    path: str
    acl: Acl
    version: int = -1


class CheckVersion(msgspec.Struct, frozen=True, array_like=True, tag="check", gc=False):
    path: str
    version: int = -1


class Multi(msgspec.Struct, frozen=True, array_like=True, tag="multi", gc=False):
    """Changes that are carried out all or none, in order, under one zxid."""

    operations: list[CreateZnode | DeleteZnode | SetData | CheckVersion]


class CreateSession(msgspec.Struct, frozen=True, array_like=True, tag="open", gc=False):
    timeout_ms: int
    password: bytes = b""


class RemoveSession(msgspec.Struct, frozen=True, array_like=True, tag="close", gc=False):
    """Removes the session and its ephemeral nodes, under one zxid."""

    expired: bool = False


class Get(msgspec.Struct, frozen=True, array_like=True, tag="get", gc=False):
    path: str
    watch: bool = False


class Exists(msgspec.Struct, frozen=True, array_like=True, tag="exists", gc=False):
    """Asks whether a node exists; leaves its watch also when there is none."""

    path: str
    watch: bool = False


class GetChildren(msgspec.Struct, frozen=True, array_like=True, tag="children", gc=False):
    path: str
    watch: bool = False


class GetAcl(msgspec.Struct, frozen=True, array_like=True, tag="get_acl", gc=False):
    path: str


class Sync(msgspec.Struct, frozen=True, array_like=True, tag="sync", gc=False):
    """Orders later reads. The embedded service has one server, which never has to catch up."""

    path: str


class SetWatches(msgspec.Struct, frozen=True, array_like=True, tag="set_watches", gc=False):
    """Watches of a client that reconnected; those with a change after `zxid` fire at once."""

    zxid: int
    data: list[str] = []
    exist: list[str] = []
    child: list[str] = []


Change = CreateZnode | DeleteZnode | SetData | SetAcl | Multi | CreateSession | RemoveSession
Operation = Change | CheckVersion | Get | Exists | GetChildren | GetAcl | Sync | SetWatches


class ZnodeStat(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """ZooKeeper's Stat in its order on the wire; times in milliseconds since 1970 or of the simulation."""

    czxid: int
    mzxid: int
    ctime: int
    mtime: int
    version: int
    cversion: int
    """Number of children created and removed so far."""
    aversion: int
    ephemeral_owner: int
    """The owner's session; 0 for a persistent node."""
    data_length: int
    num_children: int
    pzxid: int
    """Zxid of the last change of the list of children."""


class WatchEvent(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A watch that fired and is removed. The session must receive it before the answer that shows the change."""

    session: int
    type: int
    """1 created, 2 deleted, 3 data changed, 4 children changed."""
    path: str


class Touched(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One node that a change created, set or removed."""

    kind: str
    """One of created, deleted, set, acl."""
    path: str


class OperationResult(msgspec.Struct, gc=False):
    """Result of one operation; the valid fields depend on `code`."""

    code: int = 0
    zxid: int = 0
    """The tree's zxid after the operation."""
    changed: bool = False
    """True when the operation changed the tree's zxid, so that it must be in the log before it is answered."""
    path: str = ""
    """The node's name, with its number when sequential."""
    data: bytes = b""
    stat: ZnodeStat | None = None
    children: list[str] = []
    acl: Acl = ()
    results: list[OperationResult] = []
    events: list[WatchEvent] = []


class TreeChange(msgspec.Struct, frozen=True):
    """The notification of a listener about a change, after it was made."""

    zxid: int
    op: str
    """The operation's tag; `expire` for a session that expired."""
    session: int
    """Session that made the change; 0 is the operator."""
    at_ms: int
    touched: list[Touched]
