"""Operations that clients may request of the namespace, and their results.

They travel as arrays that begin with the class name: `["Mkdir", "/a", false, 493]`.
"""

from __future__ import annotations

import msgspec

BLOCK_SIZE = 64 << 10
BLOCK_SIZE_MAX = 128 << 20
CHUNK_BYTES = 512
"""Number of bytes that one checksum covers; block sizes are multiples of it."""
BLOCKS_REPORTED_MAX = 10_000


class _Operation(msgspec.Struct, array_like=True, tag=True, gc=False):
    pass


class Create(_Operation, array_like=True, tag=True, gc=False):
    """Creates an empty file. EEXIST, ENOENT and ENOTDIR of its parent."""

    path: str
    mode: int = 0o644


class Mkdir(_Operation, array_like=True, tag=True, gc=False):
    """Creates a directory. `parents` also creates the missing directories above it and accepts one that exists."""

    path: str
    parents: bool = False
    mode: int = 0o755


class Rename(_Operation, array_like=True, tag=True, gc=False):
    """Moves a file or directory. With `overwrite` a file replaces a file, a directory an empty one.

    EINVAL into its own subtree, EEXIST without `overwrite`, EISDIR, ENOTDIR, ENOTEMPTY with it.
    """

    old: str
    new: str
    overwrite: bool = False


class Link(_Operation, array_like=True, tag=True, gc=False):
    """Gives a file another name. EISDIR for a directory, EEXIST, ENOENT; EMLINK beyond `LINKS_MAX` names."""

    old: str
    new: str


class Delete(_Operation, array_like=True, tag=True, gc=False):
    """Removes a name. A file is deleted with its last name. ENOTEMPTY without `recursive`."""

    path: str
    recursive: bool = False


class SetPermission(_Operation, array_like=True, tag=True, gc=False):
    path: str
    mode: int


class SetOwner(_Operation, array_like=True, tag=True, gc=False):
    """Sets owner and group; an empty name keeps the present one."""

    path: str
    owner: str = ""
    group: str = ""


class SetTimes(_Operation, array_like=True, tag=True, gc=False):
    """Sets times in nanoseconds since 1970."""

    path: str
    mtime_ns: int
    atime_ns: int


class SetReplication(_Operation, array_like=True, tag=True, gc=False):
    """Sets the replication of a file. EISDIR for a directory."""

    path: str
    replication: int


class Append(_Operation, array_like=True, tag=True, gc=False):
    """Opens a file for writing at its end, in a new block. The writer holds the file by the number of this call.

    EISDIR; EBUSY while another writer with an open session holds it, unless `force`.
    """

    path: str
    block_size: int = BLOCK_SIZE
    """Block size for a file that has never been written; any other file keeps its own."""
    force: bool = False


class AddBlock(_Operation, array_like=True, tag=True, gc=False):
    """Finishes the unfinished block with `length` bytes of this stamp, or abandons it with 0. Then begins a new block.

    ESTALE when call `append` of this session does not hold the file any more, or `block` is not its unfinished block: the cluster was rolled
    back to a checkpoint while the file was written.
    """

    inode: int
    append: int
    block: int = 0
    """The unfinished block as the writer knows it; 0 for none."""
    length: int = 0
    stamp: int = 0


class Complete(_Operation, array_like=True, tag=True, gc=False):
    """Finishes the unfinished block as `AddBlock` does, and releases the file."""

    inode: int
    append: int
    block: int = 0
    length: int = 0
    stamp: int = 0


class Restamp(_Operation, array_like=True, tag=True, gc=False):
    """Gives the unfinished block a new stamp, because its pipeline is rebuilt. ESTALE as for `AddBlock`."""

    inode: int
    append: int
    block: int


class OpenSession(_Operation, array_like=True, tag=True, gc=False):
    """Begins the memory of one client's calls. A session that is open is renewed and otherwise unchanged."""

    since: int = 0
    """Calls with lower numbers were sent while an earlier session of this client was open here, and are refused."""
    asked_ns: int = 0
    """A stamp that the group sent the client shortly before. A copy that arrives later by a session's time to live is refused with ESTALE."""


class CloseSession(_Operation, array_like=True, tag=True, gc=False):
    """Ends the memory of one client's calls, and its hold on files that it was writing. Later calls are refused with ESTALE."""


class EndSession(_Operation, array_like=True, tag=True, gc=False):
    """A symmetric member's request, not a client's, to end a dead client's session if no record of that client has come since `used_ns`."""

    client: str
    used_ns: int


class Stat(_Operation, array_like=True, tag=True, gc=False):
    path: str


class List(_Operation, array_like=True, tag=True, gc=False):
    """Names of a directory in the order of their code points, after `after`, at most `limit`."""

    path: str
    after: str = ""
    limit: int = 1000


class ContentSummary(_Operation, array_like=True, tag=True, gc=False):
    """Counts all objects below a path, the path included; a file once for each of its names there."""

    path: str


class Open(_Operation, array_like=True, tag=True, gc=False):
    """The finished blocks of a file in order, from position `first` on, at most `limit`."""

    path: str
    first: int = 0
    limit: int = 1000


Write = (
    Create | Mkdir | Rename | Link | Delete | SetPermission | SetOwner | SetTimes | SetReplication | OpenSession | CloseSession
    | Append | AddBlock | Complete | Restamp
)  # fmt: skip
Read = Stat | List | ContentSummary | Open
Operation = Write | Read

WRITES: tuple[type, ...] = (
    Create, Mkdir, Rename, Link, Delete, SetPermission, SetOwner, SetTimes, SetReplication, OpenSession, CloseSession,
    Append, AddBlock, Complete, Restamp,
)  # fmt: skip

LIST_MAX = 10_000
LINKS_MAX = 65_000


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
    """Number of replicas; 0 for a directory."""
    entries: int
    """Number of names in a directory; 0 for a file."""
    nlink: int
    """Number of names of a file; 1 for a directory."""


class Listing(msgspec.Struct, array_like=True, tag=True, gc=False, frozen=True):
    names: list[str]
    more: bool
    """Whether there are names after the last one."""


class Summary(msgspec.Struct, array_like=True, tag=True, gc=False, frozen=True):
    directories: int
    files: int
    size: int


class Block(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """A part of a file's content."""

    number: int
    """The high 16 bits name the group that allocated it."""
    stamp: int
    """Counts the pipelines that wrote the block, from 1. A replica with another stamp does not belong to it."""
    length: int
    """Length in bytes; 0 while the block is being written."""


class Opened(msgspec.Struct, array_like=True, tag=True, gc=False, frozen=True):
    inode: int
    block_size: int
    length: int
    replication: int
    unfinished: Block | None
    """The unfinished block of the previous writer, with its new stamp."""


class Granted(msgspec.Struct, array_like=True, tag=True, gc=False, frozen=True):
    block: Block


class Contents(msgspec.Struct, array_like=True, tag=True, gc=False, frozen=True):
    inode: int
    length: int
    replication: int
    block_size: int
    """Block size in bytes; 0 for a file that has never been written."""
    blocks: list[Block]
    more: bool
    """Whether there are blocks after the last one."""
    writing: bool


class Failed(msgspec.Struct, array_like=True, tag=True, gc=False, frozen=True):
    """The recorded refusal of a write at this place of the journal. A repeated request is never carried out."""

    error: str
    """POSIX name and text."""
    sn: int
    place: int
    at_ns: int


class Absent(msgspec.Struct, array_like=True, tag=True, gc=False, frozen=True):
    """This group did not carry the call out and referred its client to another group. Copies of it up to this leg are never carried out here
    (safety rule 25)."""

    leg: int


Result = Made | Done | Attributes | Listing | Summary | Opened | Granted | Contents | Failed | Absent
