"""The inodes and dentries of one namespace, with a digest that follows each change of them in constant time.

Each change can be added to an `undo` list as (function, arguments…). Calling these in reverse order reverses it exactly.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from nodes.metadata.blocks import Bodies
from nodes.metadata.digest import MASK, MOVE_TERM, ORPHAN, UNIT, term
from nodes.metadata.inode import NO_NAMES, Inode, dentry_term
from nodes.metadata.locks import DentryLocks, NameLocks
from nodes.metadata.placement import Unit
from nodes.units import DIRECTORY, GROUP_SHIFT, INCARNATION_SHIFT, ROOT, ROOT_GROUP

Undo = list[Any] | None
OWNER = "clover"
"""Owner and group of a new object."""
REPLICATION = 3
"""Number of replicas of a new file."""


class Tree:
    """The inodes whose home is one group, with the dentries of its directories; the first group has the root.

    Many methods: each change of the tree has its undo.
    """

    def __init__(self, group: int, dentry_locks_only: bool = False, promises_across_moves: bool = False):
        self.group = group
        self.inodes: dict[int, Inode] = {}
        self.next_number = (group << GROUP_SHIFT) | 1
        """Number of the next inode; a directory's number has the bit `DIRECTORY` set."""
        self.units: dict[int, Unit] = {}
        """Placement values of directories, in placements that keep any."""
        self.orphans: dict[int, None] = {}
        """Unreachable directories, in the order in which they were orphaned."""
        self.moves = 0
        """Number of decided directory moves in the whole file system."""
        self.branch_points = 0
        """Number of dentries whose child's home is another group."""
        self.locks = DentryLocks() if dentry_locks_only else NameLocks(promises_across_moves)
        self.digest = 0
        if group == ROOT_GROUP:
            self.inodes[ROOT] = Inode(ROOT, 0o755, 0, 0, OWNER, OWNER, 0, 0, 1, NO_NAMES)
            self.next_number += 1
            self.digest = self.inodes[ROOT].attributes_term & MASK
        self.bodies = Bodies(group)

    def recompute_digest(self) -> int:
        """The digest, recomputed from every entry."""
        total = self.moves * MOVE_TERM
        for inode in self.inodes.values():
            total += inode.attributes_term
            for name, child in (inode.entries or NO_NAMES).items():
                total += dentry_term(inode.number, name, child)
        total += sum(unit_term(number, unit) for number, unit in self.units.items())
        total += sum(orphan_term(number) for number in self.orphans)
        return total & MASK

    # --- changes ---------------------------------------------------------------------------------------------------

    def make(
        self, parent: Inode, name: str, number: int, directory: bool, mode: int, at_ns: int, undo: Undo
    ) -> Inode:
        """Links a new inode; sets the parent's mtime."""
        inode = new_inode(number, directory, mode, at_ns)
        if undo is not None:
            undo.append((self._unmake, parent, name, number, self.next_number, self.digest, parent.mtime_ns))
        self.inodes[number] = inode
        self.next_number = (number & ~DIRECTORY) + 1
        if parent.entries is NO_NAMES:
            parent.entries = {name: number}
        else:
            parent.entries[name] = number  # type: ignore[index]
        self.digest = (
            self.digest
            + parent.touch(at_ns)
            + inode.attributes_term
            + dentry_term(parent.number, name, number)
        ) & MASK
        return inode

    def _unmake(
        self, parent: Inode, name: str, number: int, next_number: int, digest: int, mtime_ns: int
    ) -> None:
        del self.inodes[number]
        self._drop(parent, name)
        self.next_number, self.digest, parent.mtime_ns = next_number, digest, mtime_ns

    def remove(self, parent: Inode, name: str, at_ns: int, undo: Undo) -> None:
        """Unlinks a name and removes everything below it, which must all be here, except files that have other names."""
        assert parent.entries is not None
        number = parent.entries[name]
        gone, kept = self._losing(self._below(number))
        if self.units:
            for inode in gone:
                self.forget_unit(inode.number, undo)
        if undo is not None:
            undo.append((self._unremove, parent, name, number, gone, kept, self.digest, parent.mtime_ns))
        self.bodies.drop((inode.number for inode in gone), undo)
        lost = dentry_term(parent.number, name, number)
        for inode in gone:
            del self.inodes[inode.number]
            lost += inode.attributes_term
            if inode.entries:
                lost += sum(dentry_term(inode.number, below, child) for below, child in inode.entries.items())
        for inode, names in kept:
            lost += inode.attributes_term
            inode.nlink -= names
            lost -= inode.attributes_term
        self._drop(parent, name)
        self.digest = (self.digest - lost + parent.touch(at_ns)) & MASK

    @staticmethod
    def _losing(below: list[Inode]) -> tuple[list[Inode], list[tuple[Inode, int]]]:
        """Splits inodes, one for each removed name, into those without another name and those with one, each with its number of removed names."""
        if all(inode.nlink == 1 for inode in below):
            return below, []
        lost = Counter(inode.number for inode in below)
        each = {inode.number: inode for inode in below}
        gone = [inode for number, inode in each.items() if lost[number] == inode.nlink]
        return gone, [(inode, lost[number]) for number, inode in each.items() if lost[number] < inode.nlink]

    def _unremove(
        self,
        parent: Inode,
        name: str,
        number: int,
        gone: list[Inode],
        kept: list[tuple[Inode, int]],
        digest: int,
        mtime_ns: int,
    ) -> None:
        for inode in gone:
            self.inodes[inode.number] = inode
        for inode, names in kept:
            inode.nlink += names
        self._put(parent, name, number)
        self.digest, parent.mtime_ns = digest, mtime_ns

    def move(self, old: Inode, old_name: str, new: Inode, new_name: str, at_ns: int, undo: Undo) -> None:
        """Moves an inode to another name, which must be free."""
        assert old.entries is not None
        number = old.entries[old_name]
        if undo is not None:
            undo.append(
                (self._unmove, old, old_name, new, new_name, number, self.digest, old.mtime_ns, new.mtime_ns)
            )
        change = dentry_term(new.number, new_name, number) - dentry_term(old.number, old_name, number)
        self._drop(old, old_name)
        self._put(new, new_name, number)
        self.digest = (self.digest + change + old.touch(at_ns) + new.touch(at_ns)) & MASK

    def _unmove(
        self, old: Inode, old_name: str, new: Inode, new_name: str, number: int, digest: int, *mtimes_ns: int
    ) -> None:
        self._drop(new, new_name)
        self._put(old, old_name, number)
        self.digest = digest
        old.mtime_ns, new.mtime_ns = mtimes_ns

    # --- parts of operations on several groups ----------------------------------------------------------------------

    def allocate(self, number: int, mode: int, at_ns: int, unit: Unit | None, undo: Undo) -> None:
        """Allocates an inode without a dentry here."""
        inode = new_inode(number, bool(number & DIRECTORY), mode, at_ns)
        if undo is not None:
            undo.append((self._unallocate, number, self.next_number, self.digest))
        self.inodes[number] = inode
        self.next_number = max(self.next_number, (number & ~DIRECTORY) + 1)
        self.digest = (self.digest + inode.attributes_term) & MASK
        if unit is not None:
            self.set_unit(number, unit, undo)

    def _unallocate(self, number: int, next_number: int, digest: int) -> None:
        del self.inodes[number]
        self.next_number, self.digest = next_number, digest

    def reserve(self, count: int, undo: Undo) -> None:
        """Reserves inode numbers for a promised change."""
        if undo is not None:
            undo.append((self._set_next_number, self.next_number))
        self.next_number += count

    def _set_next_number(self, number: int) -> None:
        self.next_number = number

    def drop(self, number: int, undo: Undo) -> None:
        """Removes one name of an inode. A file with other names stays; a directory that is not empty becomes an orphan."""
        inode = self.inodes[number]
        if inode.nlink > 1:
            self.count_name(inode, -1, undo)
            return
        if inode.entries:
            if undo is not None:
                undo.append((self._unorphan, number, self.digest))
            self.orphans[number] = None
            self.digest = (self.digest + orphan_term(number)) & MASK
            return
        self.forget_unit(number, undo)
        self.bodies.drop([number], undo)
        if undo is not None:
            undo.append((self._undrop, inode, number in self.orphans, self.digest))
        del self.inodes[number]
        gone = inode.attributes_term
        if self.orphans.pop(number, self) is None:
            gone += orphan_term(number)
        self.digest = (self.digest - gone) & MASK

    def _unorphan(self, number: int, digest: int) -> None:
        del self.orphans[number]
        self.digest = digest

    def _undrop(self, inode: Inode, orphan: bool, digest: int) -> None:
        self.inodes[inode.number] = inode
        if orphan:
            self.orphans[inode.number] = None
        self.digest = digest

    def count_name(self, inode: Inode, by: int, undo: Undo) -> None:
        """Changes a file's number of names."""
        self.alter(inode, {"nlink": inode.nlink + by}, undo)

    def link(self, parent: Inode, name: str, child: int, at_ns: int, undo: Undo) -> None:
        """Inserts a dentry whose child may be in any group."""
        if undo is not None:
            undo.append((self._unlink, parent, name, self.digest, parent.mtime_ns))
        self._put(parent, name, child)
        self.digest = (self.digest + dentry_term(parent.number, name, child) + parent.touch(at_ns)) & MASK

    def _unlink(self, parent: Inode, name: str, digest: int, mtime_ns: int) -> None:
        self._drop(parent, name)
        self.digest, parent.mtime_ns = digest, mtime_ns

    def unlink(self, parent: Inode, name: str, at_ns: int, undo: Undo) -> None:
        """Removes a dentry; its child stays as it is."""
        assert parent.entries is not None
        child = parent.entries[name]
        if undo is not None:
            undo.append((self._relink, parent, name, child, self.digest, parent.mtime_ns))
        self._drop(parent, name)
        self.digest = (self.digest - dentry_term(parent.number, name, child) + parent.touch(at_ns)) & MASK

    def _relink(self, parent: Inode, name: str, child: int, digest: int, mtime_ns: int) -> None:
        self._put(parent, name, child)
        self.digest, parent.mtime_ns = digest, mtime_ns

    def count_move(self, undo: Undo) -> None:
        if undo is not None:
            undo.append((self._uncount_move, self.digest))
        self.moves += 1
        self.digest = (self.digest + MOVE_TERM) & MASK

    def _uncount_move(self, digest: int) -> None:
        self.moves -= 1
        self.digest = digest

    def begin_incarnation(self, number: int, undo: Undo) -> None:
        """Raises the numbers of inodes and blocks, and the count of moves, above all that earlier incarnations can have used."""
        share = number << INCARNATION_SHIFT
        first = self.group << GROUP_SHIFT | share
        self._raise_to(max(self.next_number, first), max(self.bodies.next_block, first), share, undo)

    def pass_over(self, numbers: int, moves: int, undo: Undo) -> None:
        """Raises the numbers of inodes and blocks, and the count of moves, above those that a forced group may have lost."""
        self._raise_to(self.next_number + numbers, self.bodies.next_block + numbers, moves, undo)

    def _raise_to(self, next_number: int, next_block: int, moves: int, undo: Undo) -> None:
        if undo is not None:
            undo.append((self._lower_to, self.next_number, self.bodies.next_block, self.moves, self.digest))
        self.next_number, self.bodies.next_block = next_number, next_block
        moves = max(self.moves, moves)
        self.digest = (self.digest + (moves - self.moves) * MOVE_TERM) & MASK
        self.moves = moves

    def _lower_to(self, next_number: int, next_block: int, moves: int, digest: int) -> None:
        self.next_number, self.moves, self.digest = next_number, moves, digest
        self.bodies.next_block = next_block

    def set_unit(self, number: int, unit: Unit, undo: Undo) -> None:
        before = self.units.get(number)
        if undo is not None:
            undo.append((self._unset_unit, number, before, self.digest))
        self.units[number] = unit
        change = unit_term(number, unit) - (unit_term(number, before) if before else 0)
        self.digest = (self.digest + change) & MASK

    def forget_unit(self, number: int, undo: Undo) -> None:
        unit = self.units.pop(number, None)
        if unit is not None:
            if undo is not None:
                undo.append((self._unset_unit, number, unit, self.digest))
            self.digest = (self.digest - unit_term(number, unit)) & MASK

    def _unset_unit(self, number: int, unit: Unit | None, digest: int) -> None:
        if unit is None:
            del self.units[number]
        else:
            self.units[number] = unit
        self.digest = digest

    def alter(self, inode: Inode, attributes: dict[str, Any], undo: Undo) -> None:
        if undo is not None:
            undo.append(
                (self._unalter, inode, {name: getattr(inode, name) for name in attributes}, self.digest)
            )
        old = inode.attributes_term
        for name, value in attributes.items():
            setattr(inode, name, value)
        self.digest = (self.digest + inode.attributes_term - old) & MASK

    def _unalter(self, inode: Inode, attributes: dict[str, Any], digest: int) -> None:
        for name, value in attributes.items():
            setattr(inode, name, value)
        self.digest = digest

    # --- dentries --------------------------------------------------------------------------------------------------

    def _below(self, number: int) -> list[Inode]:
        """The inode and all inodes below it, itself first."""
        found = [self.inodes[number]]
        for inode in found:
            if inode.entries:
                found.extend(self.inodes[child] for child in inode.entries.values())
        return found

    def has_ended(self, number: int) -> bool:
        """Whether an inode of this group was here, or was lost when the group was forced, and never will be here (again)."""
        was_given_out = number >> GROUP_SHIFT == self.group and number & ~DIRECTORY < self.next_number
        return was_given_out and number not in self.inodes and number not in self.locks.to_come

    def below(self, inode: Inode) -> list[Inode]:
        return self._below(inode.number)

    def all_here(self, inode: Inode) -> bool:
        """Whether all objects below are at home here and none is undecided."""
        found = [inode]
        for each in found:
            for child in (each.entries or NO_NAMES).values():
                below = self.inodes.get(child)
                if below is None or child in self.locks.shared or child in self.locks.exclusive:
                    return False
                found.append(below)
        return True

    def _put(self, parent: Inode, name: str, number: int) -> None:
        if number >> GROUP_SHIFT != self.group:
            self.branch_points += 1
        if parent.entries is NO_NAMES:
            parent.entries = {name: number}
        else:
            parent.entries[name] = number  # type: ignore[index]

    def _drop(self, parent: Inode, name: str) -> None:
        entries = parent.entries
        assert entries is not None
        if entries.pop(name) >> GROUP_SHIFT != self.group:
            self.branch_points -= 1
        if not entries:
            parent.entries = NO_NAMES


def new_inode(number: int, directory: bool, mode: int, at_ns: int) -> Inode:
    entries = NO_NAMES if directory else None
    return Inode(number, mode, at_ns, at_ns, OWNER, OWNER, 0 if directory else REPLICATION, 0, 1, entries)


def unit_term(number: int, unit: Unit) -> int:
    return term((UNIT, number, unit.depth, unit.dir_group, unit.dir_num, unit.file_group, unit.file_num))


def orphan_term(number: int) -> int:
    return term((ORPHAN, number))
