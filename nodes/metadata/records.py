"""What the journal says: each record holds everything that applying it needs, times and inode numbers included.

Applying a record is a pure function of (namespace, record), the same on every replica.
"""

from __future__ import annotations

import msgspec

from nodes.metadata.operations import Result
from nodes.units import OpId


class _Record(msgspec.Struct, array_like=True, tag=True, gc=False):
    op_id: OpId
    lowest_open: int
    """Every call of this client below this has been answered to the application (its results may be forgotten)."""
    at_ns: int
    """Wall clock of the active that planned it."""
    result: Result


class MakeRecord(_Record, array_like=True, tag=True, gc=False):
    """A chain of new inodes with numbers from `inode` on, each the child of the one before, the first in `parent`."""

    parent: int
    names: list[str]
    inode: int
    directory: bool
    mode: int


class MoveRecord(_Record, array_like=True, tag=True, gc=False):
    """Whatever has the new name is removed first."""

    from_parent: int
    from_name: str
    to_parent: int
    to_name: str


class RemoveRecord(_Record, array_like=True, tag=True, gc=False):
    """With everything below it."""

    parent: int
    name: str


class AlterRecord(_Record, array_like=True, tag=True, gc=False):
    """None leaves an attribute as it is."""

    inode: int
    mode: int | None = None
    owner: str | None = None
    group: str | None = None
    mtime_ns: int | None = None
    atime_ns: int | None = None
    replication: int | None = None


class KeepRecord(_Record, array_like=True, tag=True, gc=False):
    """Nothing changes; the result is remembered."""


class OpenSessionRecord(_Record, array_like=True, tag=True, gc=False):
    pass


class CloseSessionRecord(_Record, array_like=True, tag=True, gc=False):
    pass


class AppendRecord(_Record, array_like=True, tag=True, gc=False):
    """The call itself becomes the writer; an unfinished block gets a new stamp."""

    inode: int
    block_size: int


class GrowRecord(_Record, array_like=True, tag=True, gc=False):
    """Finishes the unfinished block with `length` octets, or gives it up; begins `block`, or completes the file."""

    inode: int
    length: int
    block: int


class RestampRecord(_Record, array_like=True, tag=True, gc=False):
    inode: int


Record = (
    MakeRecord | MoveRecord | RemoveRecord | AlterRecord | KeepRecord | OpenSessionRecord | CloseSessionRecord
    | AppendRecord | GrowRecord | RestampRecord
)  # fmt: skip
