"""What a client can ask of the namespace (those operations that need no data node) and what it is told.

They travel as arrays that begin with the class name: `["Mkdir", "/a", false, 493]`.
"""

from __future__ import annotations

import msgspec


class _Operation(msgspec.Struct, array_like=True, tag=True, gc=False):
    pass


class Create(_Operation, array_like=True, tag=True, gc=False):
    """Makes an empty file. EEXIST, ENOENT and ENOTDIR of its parent."""

    path: str
    mode: int = 0o644


class Mkdir(_Operation, array_like=True, tag=True, gc=False):
    """With `parents`, makes what lacks on the way and is content with a directory that is there."""

    path: str
    parents: bool = False
    mode: int = 0o755


class Rename(_Operation, array_like=True, tag=True, gc=False):
    """Moves a file or directory; with `overwrite` a file replaces a file, a directory an empty one.

    EINVAL into its own subtree, EEXIST without `overwrite`, EISDIR, ENOTDIR, ENOTEMPTY with it.
    """

    old: str
    new: str
    overwrite: bool = False


class Delete(_Operation, array_like=True, tag=True, gc=False):
    """ENOTEMPTY without `recursive`."""

    path: str
    recursive: bool = False


class SetPermission(_Operation, array_like=True, tag=True, gc=False):
    path: str
    mode: int


class SetOwner(_Operation, array_like=True, tag=True, gc=False):
    """An empty name leaves that one as it is."""

    path: str
    owner: str = ""
    group: str = ""


class SetTimes(_Operation, array_like=True, tag=True, gc=False):
    """Nanoseconds since 1970."""

    path: str
    mtime_ns: int
    atime_ns: int


class SetReplication(_Operation, array_like=True, tag=True, gc=False):
    """Files only: EISDIR."""

    path: str
    replication: int


class OpenSession(_Operation, array_like=True, tag=True, gc=False):
    """Begins the memory of one client's calls; a session that is open stays as it is."""


class CloseSession(_Operation, array_like=True, tag=True, gc=False):
    """Ends the memory of one client's calls; whatever comes later is refused with ESTALE."""


class Stat(_Operation, array_like=True, tag=True, gc=False):
    path: str


class List(_Operation, array_like=True, tag=True, gc=False):
    """Names of a directory in the order of their code points, those behind `after`, at most `limit`."""

    path: str
    after: str = ""
    limit: int = 1000


class ContentSummary(_Operation, array_like=True, tag=True, gc=False):
    """Counts what is below a path, itself included."""

    path: str


Write = (
    Create | Mkdir | Rename | Delete | SetPermission | SetOwner | SetTimes | SetReplication | OpenSession | CloseSession
)  # fmt: skip
Read = Stat | List | ContentSummary
Operation = Write | Read

WRITES: tuple[type, ...] = (
    Create, Mkdir, Rename, Delete, SetPermission, SetOwner, SetTimes, SetReplication, OpenSession, CloseSession
)  # fmt: skip

LIST_MAX = 10_000


class Made(msgspec.Struct, array_like=True, tag=True, gc=False, frozen=True):
    inode: int


class Done(msgspec.Struct, array_like=True, tag=True, gc=False, frozen=True):
    pass


class Attributes(msgspec.Struct, array_like=True, tag=True, gc=False, frozen=True):
    inode: int
    kind: str
    """file or directory."""
    mode: int
    owner: str
    group: str
    mtime_ns: int
    atime_ns: int
    length: int
    replication: int
    """0 for a directory."""
    entries: int
    """Names in a directory; 0 for a file."""


class Listing(msgspec.Struct, array_like=True, tag=True, gc=False, frozen=True):
    names: list[str]
    more: bool
    """Whether names behind the last one were left out."""


class Summary(msgspec.Struct, array_like=True, tag=True, gc=False, frozen=True):
    directories: int
    files: int
    octets: int


Result = Made | Done | Attributes | Listing | Summary
