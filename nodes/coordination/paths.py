"""Paths of znodes, by ZooKeeper's rules."""

from __future__ import annotations

import re
from functools import lru_cache

from nodes.coordination.codes import Code, OperationRefused

_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\uffff]")


def parent_of(path: str) -> str:
    """The parent's path. Raises OperationRefused(BAD_ARGUMENTS) for a path without a slash."""
    cut = path.rfind("/")
    if cut < 0:
        raise OperationRefused(Code.BAD_ARGUMENTS)
    return path[:cut] or "/"


PATH_MAX = 4096
"""Largest number of characters of a path. ZooKeeper has no limit of its own."""


def valid(path: str) -> bool:
    """Whether a path is short enough, absolute, without an empty, `.` or `..` name, trailing slash, control, private or surrogate character."""
    return len(path) <= PATH_MAX and _is_well_formed(path)


@lru_cache(maxsize=1024)
def _is_well_formed(path: str) -> bool:
    if path == "/":
        return True
    if not path.startswith("/") or _FORBIDDEN.search(path):
        return False
    return all(name not in ("", ".", "..") for name in path[1:].split("/"))
