"""A namespace as it is now, page by page, for whoever looks at it from outside."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from nodes.metadata.crossing import Crossing
from nodes.metadata.inode import NO_NAMES
from nodes.metadata.namespace import Namespace

PAGE_MAX = 5_000
"""Inodes and dentries in a page."""


class Page(msgspec.Struct):
    """Inodes behind `after`, by number: None for a file, else the children of a directory by name."""

    group: int
    digest: str
    inodes: dict[int, dict[str, int] | None]
    links: dict[int, int]
    """How many names a file has, where it is not one."""
    after: int
    """The last inode of the page; 0 when there is no more."""
    orphans: list[int]
    moves: int
    branch_points: int
    open: int
    """Operations on several groups that are not ended."""


class Counters(msgspec.Struct, frozen=True):
    """What the active of a group counts; what is of several groups, since it began to serve."""

    objects: int
    branch_points: int
    open: int
    """Operations on several groups that are not ended here, as coordinator or as participant."""
    done: int
    """Operations on several groups that this group coordinated and committed."""
    aborted: int
    """The same of those that it aborted; one that is tried again counts each time."""
    sent: int
    """Messages to other groups."""
    log_octets: int
    """Of the journal behind the newest image; a start reads it."""
    log_full: bool
    """Writes wait until an image is taken."""
    periodic: int
    """Images taken because there were so many groups (DCFS2 §4.3: periodic write-back)."""
    forced: int
    """Images taken because the log was half full."""
    protocol: int
    """Records of operations on several groups that were on the disks before anybody was told."""


class Crossed(NamedTuple):
    """What one tenure counts of operations on several groups."""

    done: int = 0
    aborted: int = 0
    sent: int = 0
    protocol: int = 0


class Log(NamedTuple):
    """What one tenure counts of its log."""

    octets: int = 0
    full: bool = False
    periodic: int = 0
    forced: int = 0


def open_operations(crossing: Crossing) -> int:
    return len(crossing.begun) + len(crossing.decided) + len(crossing.promised) + len(crossing.voted)


def page_of(namespace: Namespace, question: dict[str, Any]) -> dict[str, Any]:
    """`after` says which inode was told last, `limit` how much may be told now. Raises ValueError, TypeError."""
    after, limit = int(question.get("after", 0)), min(PAGE_MAX, int(question.get("limit", PAGE_MAX)))
    tree, crossing = namespace.tree, namespace.crossing
    told: dict[int, dict[str, int] | None] = {}
    links: dict[int, int] = {}
    size, last = 0, 0
    for number in sorted(number for number in tree.inodes if number > after):
        if size >= limit:
            break
        entries = tree.inodes[number].entries
        told[number] = None if entries is None else dict(entries or NO_NAMES)
        if tree.inodes[number].nlink != 1:
            links[number] = tree.inodes[number].nlink
        size += 1 + len(entries or NO_NAMES)
        last = number
    else:
        last = 0
    page = Page(
        tree.group, f"{namespace.digest:016x}", told, links, last, list(tree.orphans)[:PAGE_MAX], tree.moves,
        tree.branch_points, open_operations(crossing),
    )  # fmt: skip
    return msgspec.to_builtins(page, str_keys=True)  # type: ignore[no-any-return]


def counters_of(namespace: Namespace, crossed: Crossed, log: Log) -> Counters:
    """In constant time, however large the tree is."""
    tree = namespace.tree
    return Counters(
        len(tree.inodes), tree.branch_points, open_operations(namespace.crossing),
        crossed.done, crossed.aborted, crossed.sent,
        log.octets, log.full, log.periodic, log.forced, crossed.protocol,
    )  # fmt: skip
