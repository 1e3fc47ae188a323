"""Comparison of an answer with the one that the model expects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.invariants.model import Expected
from nodes.invariants.versions import FIELDS, VersionedNode

STATELESS = frozenset(("EINVAL", "ENAMETOOLONG", "EAGAIN", "ESTALE", "EBUSY", "EFBIG", "EMLINK"))
"""Errors that do not depend on the tree."""


def difference(expected: Expected, error: str, result: list[Any]) -> str:
    """The expected answer when the given one is wrong, else empty. Learns inode numbers."""
    if error in STATELESS:
        return ""
    wanted, value = expected
    if wanted or error:
        return "" if wanted == error else (wanted or "success")
    if value is None:
        return ""
    length, compare = _COMPARE.get(result[0] if result else "", (-1, _made))
    return compare(value, result) if len(result) == length else "a result of another kind"


def _made(node: VersionedNode, result: list[Any]) -> str:
    if not node.inode:
        node.inode = result[1]
    return "" if node.inode == result[1] else f"inode {node.inode}"


def _attributes(value: tuple[VersionedNode, tuple[Any, ...]], result: list[Any]) -> str:
    node, attributes = value
    kind = "file" if node.names is None else "directory"
    untouched = kind == "file" and not result[8]
    seen = (result[3], result[4], result[5], result[9], result[11], result[6] if untouched else None)
    if result[2] != kind:
        return f"a {kind}"
    if node.inode and node.inode != result[1]:
        return f"inode {node.inode}"
    for name, wanted, got in zip(FIELDS, attributes, seen, strict=True):
        if wanted is not None and got is not None and wanted != got:
            return f"{name} {wanted}"
    return ""


def _listing(value: tuple[list[str], bool], result: list[Any]) -> str:
    names, more = value
    if names == list(result[1]) and more == result[2]:
        return ""
    return f"{names[:10]}{' …' if more or len(names) > 10 else ''}"


def _summary(value: tuple[int, int], result: list[Any]) -> str:
    return "" if value == (result[1], result[2]) else f"{value[0]} directories and {value[1]} files"


_COMPARE: dict[str, tuple[int, Callable[[Any, list[Any]], str]]] = {
    "Made": (2, _made),
    "Attributes": (12, _attributes),
    "Listing": (3, _listing),
    "Summary": (4, _summary),
}
"""Length of a result of each kind, and the function that compares it."""
