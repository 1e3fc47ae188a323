"""The space of file handles (SAA §6): every member assigns the same inode numbers without messages, because all decide in the same order."""

from __future__ import annotations

from nodes.metadata.records import MakeRecord, Record
from nodes.metadata.tree import Tree
from nodes.units import DIRECTORY


class Handles:
    """The free inode numbers, from `first_free` on. Decided records take numbers before their inodes are in the tree."""

    def __init__(self, tree: Tree):
        self._tree = tree

    @property
    def first_free(self) -> int:
        return self._tree.next_number

    def give(self, record: Record) -> None:
        """Takes the numbers of the inodes that a decided record makes."""
        if isinstance(record, MakeRecord):
            assert record.inode & ~DIRECTORY == self._tree.next_number, "decided on another handle space"
            self._tree.next_number += len(record.names)

    def take_back(self, first_free: int) -> None:
        """Frees the numbers of the last decided transaction, which is rolled back."""
        self._tree.next_number = first_free
