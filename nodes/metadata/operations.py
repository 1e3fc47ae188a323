"""What a client can ask of the namespace and what it is told.

They travel as arrays that begin with the class name: `["Mkdir", "/a", false, 493]`.
"""

from __future__ import annotations

import msgspec

BLOCK_SIZE = 64 << 10
BLOCK_SIZE_MAX = 128 << 20
CHUNK_OCTETS = 512
"""What one checksum covers; block sizes are multiples of it."""
BLOCKS_TOLD_MAX = 10_000


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


class Link(_Operation, array_like=True, tag=True, gc=False):
    """Gives a file another name. EISDIR for a directory, EEXIST, ENOENT; EMLINK beyond `LINKS_MAX` names."""

    old: str
    new: str


class Delete(_Operation, array_like=True, tag=True, gc=False):
    """Takes a name away; a file goes with its last one. ENOTEMPTY without `recursive`."""

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


class Append(_Operation, array_like=True, tag=True, gc=False):
    """Opens a file for writing at its end, in a new block; its number is what the writer holds the file by.

    EISDIR; EBUSY while another writer whose session is open holds it, unless `force`.
    """

    path: str
    block_size: int = BLOCK_SIZE
    """Of a file that has never been written; any other keeps its own."""
    force: bool = False


class AddBlock(_Operation, array_like=True, tag=True, gc=False):
    """The unfinished block is whole with `length` octets of this stamp, or with 0 given up; a new one is begun.

    ESTALE when call `append` of this session does not hold the file any more, or `block` is not its unfinished block: the cluster was taken
    back to a checkpoint while it was written.
    """

    inode: int
    append: int
    block: int = 0
    """The unfinished block as the writer knows it; 0 for none."""
    length: int = 0
    stamp: int = 0


class Complete(_Operation, array_like=True, tag=True, gc=False):
    """Finishes the unfinished block as `AddBlock` does and gives the file up."""

    inode: int
    append: int
    block: int = 0
    length: int = 0
    stamp: int = 0


class Restamp(_Operation, array_like=True, tag=True, gc=False):
    """A new stamp for the unfinished block, whose pipeline is to be built anew. ESTALE as for `AddBlock`."""

    inode: int
    append: int
    block: int


class OpenSession(_Operation, array_like=True, tag=True, gc=False):
    """Begins the memory of one client's calls; a session that is open is renewed, and else stays as it is."""

    since: int = 0
    """Lower numbers were sent while an earlier session of this client was open here, and are refused."""
    asked_ns: int = 0
    """A stamp that the group gave the client shortly before: a copy that comes a session's time to live later is refused with ESTALE."""


class CloseSession(_Operation, array_like=True, tag=True, gc=False):
    """Ends the memory of one client's calls, and its hold on what it was writing; whatever comes later is refused with ESTALE."""


class EndSession(_Operation, array_like=True, tag=True, gc=False):
    """No client's: a symmetric member asks that the session of one that is dead ends, if nothing has been recorded of it since `used_ns`."""

    client: str
    used_ns: int


class Stat(_Operation, array_like=True, tag=True, gc=False):
    path: str


class List(_Operation, array_like=True, tag=True, gc=False):
    """Names of a directory in the order of their code points, those behind `after`, at most `limit`."""

    path: str
    after: str = ""
    limit: int = 1000


class ContentSummary(_Operation, array_like=True, tag=True, gc=False):
    """Counts what is below a path, itself included; a file once for each of its names there."""

    path: str


class Open(_Operation, array_like=True, tag=True, gc=False):
    """The finished blocks of a file in order, those from position `first` on, at most `limit`."""

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
    """0 for a directory."""
    entries: int
    """Names in a directory; 0 for a file."""
    nlink: int
    """Names of a file; 1 for a directory."""


class Listing(msgspec.Struct, array_like=True, tag=True, gc=False, frozen=True):
    names: list[str]
    more: bool
    """Whether names behind the last one were left out."""


class Summary(msgspec.Struct, array_like=True, tag=True, gc=False, frozen=True):
    directories: int
    files: int
    octets: int


class Block(msgspec.Struct, array_like=True, gc=False, frozen=True):
    """A part of a file's content."""

    number: int
    """The high 16 bits name the group that allocated it."""
    stamp: int
    """Counts the pipelines that wrote it, from 1; a replica of another stamp is none of it."""
    length: int
    """0 while it is being written."""


class Opened(msgspec.Struct, array_like=True, tag=True, gc=False, frozen=True):
    inode: int
    block_size: int
    length: int
    replication: int
    unfinished: Block | None
    """What the writer before left behind, with its new stamp."""


class Granted(msgspec.Struct, array_like=True, tag=True, gc=False, frozen=True):
    block: Block


class Contents(msgspec.Struct, array_like=True, tag=True, gc=False, frozen=True):
    inode: int
    length: int
    replication: int
    block_size: int
    """0 for a file that has never been written."""
    blocks: list[Block]
    more: bool
    """Whether blocks behind the last one were left out."""
    writing: bool


class Failed(msgspec.Struct, array_like=True, tag=True, gc=False, frozen=True):
    """A write was refused, at this place of the journal: what is remembered of it, so that asking again never carries it out."""

    error: str
    """POSIX name and text."""
    sn: int
    place: int
    at_ns: int


class Absent(msgspec.Struct, array_like=True, tag=True, gc=False, frozen=True):
    """The call was not carried out by this group, and its client has been sent elsewhere: copies of it up to this leg of its way never are
    (safety rule 25)."""

    leg: int


Result = Made | Done | Attributes | Listing | Summary | Opened | Granted | Contents | Failed | Absent
