"""The present namespace in pages, for observers."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from nodes.metadata.cross_group_memory import Crossing
from nodes.metadata.inode import NO_NAMES
from nodes.metadata.namespace import Namespace

PAGE_MAX = 5_000
"""Largest number of inodes and dentries in a page."""


class TreePage(msgspec.Struct):
    """Inodes after `after`, by number: None for a file, the children by name for a directory."""

    group: int
    digest: str
    inodes: dict[int, dict[str, int] | None]
    links: dict[int, int]
    """Number of names of each file that has other than one."""
    after: int
    """The last inode of the page; 0 when there is no more."""
    orphans: list[int]
    moves: int
    branch_points: int
    open: int
    """Operations on several groups that have not ended."""


class Counters(msgspec.Struct, frozen=True):
    """Counters of a group's active. Those of operations on several groups count since it began to serve."""

    objects: int
    branch_points: int
    open: int
    """Operations on several groups that have not ended here, as coordinator or as participant."""
    done: int
    """Operations on several groups that this group coordinated and committed."""
    aborted: int
    """Operations on several groups that this group coordinated and aborted; each retry counts."""
    sent: int
    """Messages to other groups."""
    log_bytes: int
    """Bytes of the journal behind the newest image, which a start reads."""
    log_full: bool
    """Writes wait until an image is taken."""
    periodic: int
    """Images taken after a number of groups (DCFS2 §4.3.3)."""
    forced: int
    """Images taken because the log was half full."""
    protocol: int
    """Records of operations on several groups that were written to disk before an answer or message was sent."""


class Crossed(NamedTuple):
    """One tenure's counters of operations on several groups."""

    done: int = 0
    aborted: int = 0
    sent: int = 0
    protocol: int = 0


class LogCounters(NamedTuple):
    """One tenure's counters of its log."""

    size: int = 0
    full: bool = False
    periodic: int = 0
    forced: int = 0


def open_operations(crossing: Crossing) -> int:
    return len(crossing.begun) + len(crossing.decided) + len(crossing.promised) + len(crossing.voted)


def page_of(namespace: Namespace, question: dict[str, Any]) -> dict[str, Any]:
    """The page after the inode `after`, of at most `limit` entries. Raises ValueError, TypeError."""
    after, limit = int(question.get("after", 0)), min(PAGE_MAX, int(question.get("limit", PAGE_MAX)))
    tree, crossing = namespace.tree, namespace.crossing
    reported: dict[int, dict[str, int] | None] = {}
    links: dict[int, int] = {}
    size, last = 0, 0
    for number in sorted(number for number in tree.inodes if number > after):
        if size >= limit:
            break
        entries = tree.inodes[number].entries
        reported[number] = None if entries is None else dict(entries or NO_NAMES)
        if tree.inodes[number].nlink != 1:
            links[number] = tree.inodes[number].nlink
        size += 1 + len(entries or NO_NAMES)
        last = number
    else:
        last = 0
    page = TreePage(
        tree.group, f"{namespace.digest:016x}", reported, links, last, list(tree.orphans)[:PAGE_MAX], tree.moves,
        tree.branch_points, open_operations(crossing),
    )  # fmt: skip
    return msgspec.to_builtins(page, str_keys=True)  # type: ignore[no-any-return]


def counters_of(namespace: Namespace, crossed: Crossed, log: LogCounters) -> Counters:
    """Counters of a namespace, in constant time, however large the tree is."""
    tree = namespace.tree
    return Counters(
        len(tree.inodes), tree.branch_points, open_operations(namespace.crossing),
        crossed.done, crossed.aborted, crossed.sent,
        log.size, log.full, log.periodic, log.forced, crossed.protocol,
    )  # fmt: skip
