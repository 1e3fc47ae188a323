"""A namespace as it is now, page by page, for whoever looks at it from outside."""

from __future__ import annotations

from typing import Any

import msgspec

from nodes.metadata.inode import NO_NAMES
from nodes.metadata.namespace import Namespace

PAGE_MAX = 5_000
"""Inodes and dentries in a page."""


class Page(msgspec.Struct):
    """Inodes behind `after`, by number: None for a file, else the children of a directory by name."""

    group: int
    digest: str
    inodes: dict[int, dict[str, int] | None]
    after: int
    """The last inode of the page; 0 when there is no more."""
    orphans: list[int]
    moves: int
    branch_points: int
    open: int
    """Operations on several groups that are not ended."""


def page_of(namespace: Namespace, question: dict[str, Any]) -> dict[str, Any]:
    """`after` says which inode was told last, `limit` how much may be told now. Raises ValueError, TypeError."""
    after, limit = int(question.get("after", 0)), min(PAGE_MAX, int(question.get("limit", PAGE_MAX)))
    tree, crossing = namespace.tree, namespace.crossing
    told: dict[int, dict[str, int] | None] = {}
    size, last = 0, 0
    for number in sorted(number for number in tree.inodes if number > after):
        if size >= limit:
            break
        entries = tree.inodes[number].entries
        told[number] = None if entries is None else dict(entries or NO_NAMES)
        size += 1 + len(entries or NO_NAMES)
        last = number
    else:
        last = 0
    pending = len(crossing.begun) + len(crossing.decided) + len(crossing.promised) + len(crossing.voted)
    page = Page(
        tree.group, f"{namespace.digest:016x}", told, last, list(tree.orphans)[:PAGE_MAX], tree.moves,
        tree.branch_points, pending,
    )  # fmt: skip
    return msgspec.to_builtins(page, str_keys=True)  # type: ignore[no-any-return]
