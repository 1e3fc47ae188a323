"""What a distributed operation does on one group, in the smallest steps (DCFS2 Table 1)."""

from __future__ import annotations

import msgspec

from nodes.metadata.placement import Unit

MADE = 0
"""As a child: the inode that another group of this operation makes."""


class _Change(msgspec.Struct, array_like=True, tag=True, gc=False, frozen=True):
    pass


class Link(_Change, array_like=True, tag=True, gc=False, frozen=True):
    """A dentry is inserted; `over` is the child that the name has before, 0 for none."""

    parent: int
    name: str
    child: int
    over: int = 0
    unit: Unit | None = None
    """What the parent's values become, where the placement keeps any: at once, so that the next object is counted on from there; an
    operation that is aborted has been counted all the same."""


class Unlink(_Change, array_like=True, tag=True, gc=False, frozen=True):
    """A dentry is removed."""

    parent: int
    name: str
    child: int


class Keep(_Change, array_like=True, tag=True, gc=False, frozen=True):
    """A dentry stays as it is until the operation is decided."""

    parent: int
    name: str
    child: int


class NewInode(_Change, array_like=True, tag=True, gc=False, frozen=True):
    """An inode is allocated and filled."""

    directory: bool
    mode: int
    unit: Unit | None = None


class DropInode(_Change, array_like=True, tag=True, gc=False, frozen=True):
    """One name of an inode is gone. A file goes with its last one; a directory only when it is empty, unless `orphan`, which leaves what is below
    it to be reclaimed."""

    inode: int
    orphan: bool = False


class CountName(_Change, array_like=True, tag=True, gc=False, frozen=True):
    """A file has a name more."""

    inode: int


class CountMove(_Change, array_like=True, tag=True, gc=False, frozen=True):
    """The way to some directory changes: every path that a client resolved before is to be resolved again."""


Change = Link | Unlink | Keep | NewInode | DropInode | CountName | CountMove
