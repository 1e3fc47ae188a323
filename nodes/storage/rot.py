"""Which bit of a server's disk rots when somebody asks for it: the same on every fabric."""

from __future__ import annotations

CORRUPTIBLE = ("journal", "journal_tail", "image", "block")
"""In the middle of the newest journal file, in its last record, in the newest image, or in the newest block."""
FROM_END = 3


class NothingToRot(Exception):
    """There is no such file on the disk, or no such thing; one line says why."""


def choose(what: str, sizes: dict[str, int]) -> tuple[str, int]:
    """(path, offset of the octet) among files by path, with their sizes. Raises NothingToRot."""
    if what not in CORRUPTIBLE:
        raise NothingToRot(f"corrupt {what!r}: say one of {', '.join(CORRUPTIBLE)}")
    directory = "blocks/" if what == "block" else what.partition("_")[0] + "/"
    paths = sorted(
        path
        for path, size in sizes.items()
        if path.startswith(directory) and size > FROM_END and path[-4:] != ".rep"
    )
    if not paths:
        raise NothingToRot(f"there is no {what} on its disk")
    size = sizes[paths[-1]]
    return paths[-1], size - FROM_END if what == "journal_tail" else size // 2
