"""The choice of a bit that rots on a server's disk, on command: the same on every fabric."""

from __future__ import annotations

import random

CORRUPTIBLE = ("journal", "journal_tail", "image", "block")
"""Targets of rot: the middle of the newest journal file, its last record, the newest image, the newest block."""
DRAWN = (*CORRUPTIBLE, "manifest", "any")
"""Targets of `draw`: also the newest image's manifest, or any file."""
FROM_END = 3


class NothingToRot(Exception):
    """The disk has no such file or content; one line gives the reason."""


def choose(what: str, sizes: dict[str, int]) -> tuple[str, int]:
    """(path, offset of the byte) among files by path, with their sizes. Raises NothingToRot."""
    if what not in CORRUPTIBLE:
        raise NothingToRot(f"corrupt {what!r}: say one of {', '.join(CORRUPTIBLE)}")
    path = _files(what, sizes)[-1]
    return path, sizes[path] - FROM_END if what == "journal_tail" else sizes[path] // 2


def draw(what: str, sizes: dict[str, int], rng: random.Random) -> tuple[str, int]:
    """Like `choose`, but any such file and any place in it. In a journal's tail, the place is within the last 64 bytes. Raises NothingToRot."""
    if what not in DRAWN:
        raise NothingToRot(f"corrupt {what!r}: say one of {', '.join(DRAWN)}")
    paths = _files(what, sizes)
    path = paths[-1] if what == "journal_tail" else rng.choice(paths)
    return path, rng.randrange(max(0, sizes[path] - 64) if what == "journal_tail" else 0, sizes[path])


def _files(what: str, sizes: dict[str, int]) -> list[str]:
    """Paths of the target's files, sorted. Raises NothingToRot when there is none."""
    kind = what.partition("_")[0]
    directory = {"block": "blocks/", "manifest": "image/", "any": ""}.get(kind, f"{kind}/")
    ending = ".manifest" if what == "manifest" else ""
    paths = sorted(
        path
        for path, size in sizes.items()
        if path.startswith(directory) and path.endswith(ending) and size > FROM_END
        and (what == "any" or path[-4:] != ".rep")
    )  # fmt: skip
    if not paths:
        raise NothingToRot(f"there is no {what} on its disk")
    return paths
