"""Consistency of the namespaces of all groups: no orphan inode, no dangling dentry, each file's name count correct (nodes/invariants)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from nodes.metadata.pages import TreePage
from nodes.units import ROOT, home_group, is_directory

SHOWN_MAX = 100


def faults(pages: Iterable[TreePage]) -> list[str]:
    """One line for each fault, at most a hundred, from the pages of every group. The result is valid only for a quiescent moment."""
    inodes: dict[int, dict[str, int] | None] = {}
    links: dict[int, int] = {}
    groups: set[int] = set()
    orphans: set[int] = set()
    found: list[str] = []
    for page in pages:
        groups.add(page.group)
        inodes.update(page.inodes)
        links.update(page.links)
        orphans.update(page.orphans)
        if page.open:
            found.append(f"group {page.group} has {page.open} operations that are not ended")
    named: dict[int, str] = {}
    names: Counter[int] = Counter()
    for number, entries in inodes.items():
        for name, child in (entries or {}).items():
            where = f"{name!r} in inode {number} of group {home_group(number)}"
            if home_group(child) in groups and child not in inodes:
                found.append(f"dangling dentry: {where} names inode {child}, which is not there")
            elif child in named and is_directory(child):
                found.append(f"two dentries: {where} and {named[child]} name inode {child}")
            named[child] = where
            names[child] += 1
    reached = _reached(inodes, [ROOT, *orphans])
    for number, entries in inodes.items():
        where = f"{number} of group {home_group(number)}"
        if not names[number] and number != ROOT and number not in orphans:
            found.append(f"orphan inode: {where} has no dentry")
        elif number not in reached:
            found.append(f"detached: inode {where} has a dentry, but no way leads to it from the root")
        elif entries is None and names[number] != links.get(number, 1):
            said = links.get(number, 1)
            found.append(f"wrong count: inode {where} has {names[number]} names and says {said}")
    return found[:SHOWN_MAX]


def _reached(inodes: dict[int, dict[str, int] | None], begin: list[int]) -> set[int]:
    reached, ahead = set(begin), list(begin)
    while ahead:
        for child in (inodes.get(ahead.pop()) or {}).values():
            if child not in reached:
                reached.add(child)
                ahead.append(child)
    return reached
