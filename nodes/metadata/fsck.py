"""Whether the trees of all groups fit together: no orphan inode, no dangling dentry (protocols.md §10)."""

from __future__ import annotations

from collections.abc import Iterable

from nodes.metadata.inode import NO_NAMES
from nodes.metadata.tree import Tree
from nodes.units import ROOT, home_group


def faults(trees: Iterable[Tree]) -> list[str]:
    """One line for each thing that is wrong; true only when nothing is under way. Every group's tree, each once."""
    by_group = {tree.group: tree for tree in trees}
    found: list[str] = []
    named: dict[int, tuple[int, str]] = {}
    for tree in by_group.values():
        for inode in tree.inodes.values():
            for name, child in (inode.entries or NO_NAMES).items():
                home = by_group.get(home_group(child))
                where = f"{name!r} in inode {inode.number} of group {tree.group}"
                if home is None or child not in home.inodes:
                    found.append(f"dangling dentry: {where} names inode {child}, which is not there")
                elif child in named:
                    found.append(f"two dentries: {where} names inode {child}, and so does {named[child]}")
                named[child] = (inode.number, name)
    for tree in by_group.values():
        for number in tree.inodes:
            if number not in named and number != ROOT and number not in tree.orphans:
                found.append(f"orphan inode: {number} of group {tree.group} has no dentry")
    return found
