"""Which bit of a server's disk rots when somebody asks for it: the same on every fabric."""

from __future__ import annotations

import random

CORRUPTIBLE = ("journal", "journal_tail", "image", "block")
"""In the middle of the newest journal file, in its last record, in the newest image, or in the newest block."""
DRAWN = (*CORRUPTIBLE, "manifest", "any")
"""What `draw` knows: the newest image's manifest besides, or whatever file there is."""
FROM_END = 3


class NothingToRot(Exception):
    """There is no such file on the disk, or no such thing; one line says why."""


def choose(what: str, sizes: dict[str, int]) -> tuple[str, int]:
    """(path, offset of the octet) among files by path, with their sizes. Raises NothingToRot."""
    if what not in CORRUPTIBLE:
        raise NothingToRot(f"corrupt {what!r}: say one of {', '.join(CORRUPTIBLE)}")
    path = _files(what, sizes)[-1]
    return path, sizes[path] - FROM_END if what == "journal_tail" else sizes[path] // 2


def draw(what: str, sizes: dict[str, int], rng: random.Random) -> tuple[str, int]:
    """Like `choose`, but any such file and any place in it; of a journal's tail the last 64 bytes. Raises NothingToRot."""
    if what not in DRAWN:
        raise NothingToRot(f"corrupt {what!r}: say one of {', '.join(DRAWN)}")
    paths = _files(what, sizes)
    path = paths[-1] if what == "journal_tail" else rng.choice(paths)
    return path, rng.randrange(max(0, sizes[path] - 64) if what == "journal_tail" else 0, sizes[path])


def _files(what: str, sizes: dict[str, int]) -> list[str]:
    """Sorted. Raises NothingToRot when there is none."""
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
