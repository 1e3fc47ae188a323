"""The space of file handles (SAA §6): every member assigns the same inode numbers without messages, because all decide in the same order."""

from __future__ import annotations

from collections.abc import Callable

from nodes.metadata.records import MakeRecord, Record
from nodes.metadata.tree import Tree


class Handles:
    """The free inode numbers, from `first_free` on. Decided records take numbers before their inodes are in the tree.

    The tree's own counter is that of its inodes: an image of the tree has no part of the transactions that come after it.
    """

    def __init__(self, tree: Tree):
        self._tree = tree
        self.first_free = tree.next_number

    def plan(self, plan: Callable[[], Record]) -> Record:
        """Makes a plan with the free numbers, which stay free until `give`."""
        submitted, self._tree.next_number = self._tree.next_number, self.first_free
        try:
            return plan()
        finally:
            self._tree.next_number = submitted

    def give(self, record: Record) -> None:
        """Takes the numbers of the inodes that a decided record makes."""
        if isinstance(record, MakeRecord):
            self.first_free += len(record.names)

    def take_back(self, first_free: int) -> None:
        """Frees the numbers of the last decided transaction, which is rolled back."""
        self.first_free = first_free
