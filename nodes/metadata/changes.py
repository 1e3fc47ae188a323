"""Elementary changes of a distributed operation on one group (DCFS2 Table 1)."""

from __future__ import annotations

import msgspec

from nodes.metadata.placement import Unit

MADE = 0
"""Stands for a child that another group of this operation creates."""


class _Change(msgspec.Struct, array_like=True, tag=True, gc=False, frozen=True):
    pass


class AddDentry(_Change, array_like=True, tag="Link", gc=False, frozen=True):
    """Inserts a dentry. `over` is the present child of the name, 0 for none."""

    parent: int
    name: str
    child: int
    over: int = 0
    unit: Unit | None = None
    """The parent's new placement values, if any. They change at once, so that the next object is counted from there; an aborted operation stays
    counted."""


class RemoveDentry(_Change, array_like=True, tag="Unlink", gc=False, frozen=True):
    parent: int
    name: str
    child: int


class Keep(_Change, array_like=True, tag=True, gc=False, frozen=True):
    """Keeps a dentry unchanged until the operation is decided."""

    parent: int
    name: str
    child: int


class NewInode(_Change, array_like=True, tag=True, gc=False, frozen=True):
    directory: bool
    mode: int
    unit: Unit | None = None


class DropInode(_Change, array_like=True, tag=True, gc=False, frozen=True):
    """Removes one name of an inode. A file is deleted with its last name. A directory is deleted only when empty, or with `orphan`, which leaves
    its content to be reclaimed."""

    inode: int
    orphan: bool = False


class CountName(_Change, array_like=True, tag=True, gc=False, frozen=True):
    inode: int


class CountMove(_Change, array_like=True, tag=True, gc=False, frozen=True):
    """The path of some directory changes: every path that a client resolved before must be resolved again."""


Change = AddDentry | RemoveDentry | Keep | NewInode | DropInode | CountName | CountMove
