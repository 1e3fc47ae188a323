"""Whether the namespaces of all groups fit together: no orphan inode, no dangling dentry (protocols.md §10)."""

from __future__ import annotations

from collections.abc import Iterable

from nodes.metadata.pages import Page
from nodes.units import ROOT, home_group

SHOWN_MAX = 100


def faults(pages: Iterable[Page]) -> list[str]:
    """One line for each thing that is wrong, the first hundred; true only of a quiet moment. Pages of every group."""
    inodes: dict[int, dict[str, int] | None] = {}
    groups: set[int] = set()
    orphans: set[int] = set()
    found: list[str] = []
    for page in pages:
        groups.add(page.group)
        inodes.update(page.inodes)
        orphans.update(page.orphans)
        if page.open:
            found.append(f"group {page.group} has {page.open} operations that are not ended")
    named: dict[int, str] = {}
    for number, entries in inodes.items():
        for name, child in (entries or {}).items():
            where = f"{name!r} in inode {number} of group {home_group(number)}"
            if home_group(child) in groups and child not in inodes:
                found.append(f"dangling dentry: {where} names inode {child}, which is not there")
            elif child in named:
                found.append(f"two dentries: {where} and {named[child]} name inode {child}")
            named[child] = where
    for number in inodes:
        if number not in named and number != ROOT and number not in orphans:
            found.append(f"orphan inode: {number} of group {home_group(number)} has no dentry")
    return found[:SHOWN_MAX]
