"""The space of file handles (SAA §6): every member gives the same inode numbers without asking anybody, because all decide in the same order."""

from __future__ import annotations

from nodes.metadata.records import MakeRecord, Record
from nodes.metadata.tree import Tree
from nodes.units import DIRECTORY


class Handles:
    """What is free: the numbers from `first_free` on. It runs ahead of the tree by those that are given and not in it yet."""

    def __init__(self, tree: Tree):
        self._tree = tree

    @property
    def first_free(self) -> int:
        return self._tree.next_number

    def give(self, record: Record) -> None:
        """Those that a decided record makes inodes of are taken."""
        if isinstance(record, MakeRecord):
            assert record.inode & ~DIRECTORY == self._tree.next_number, "decided on another handle space"
            self._tree.next_number += len(record.names)

    def take_back(self, first_free: int) -> None:
        """Of a transaction that is rolled back, the last that was decided: what was free before it is free again."""
        self._tree.next_number = first_free
