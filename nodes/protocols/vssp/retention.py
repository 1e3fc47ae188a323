"""Retention on a pool node: the images that stay, and the sn from which its journal is still needed (safety rule 14)."""

from __future__ import annotations

from collections.abc import Iterable

from nodes.protocols.vssp.manifest import rank_of


def at_or_below(images: list[str], sn: int) -> str | None:
    """The newest image without groups after sn."""
    fitting = [image for image in images if rank_of(image)[2] <= sn]
    return max(fitting, default=None)


def with_barriers(images: list[str], pinned: Iterable[int], rollbacks: dict[int, int], kept: int) -> set[int]:
    """The pins, and the barrier of each rollback that lies between a pin, or the present, and the image from which it is reached: for the present
    the oldest of the `kept` newest."""
    found = set(pinned)
    ranks = sorted(rank_of(image)[2] for image in images)
    present = ranks[-kept] if len(ranks) >= kept else 0
    for sn, barrier in sorted(rollbacks.items(), reverse=True):
        if sn > present or any(sn <= goal and _start(images, goal) < sn for goal in found):
            found.add(barrier)
    return found


def _start(images: list[str], sn: int) -> int:
    image = at_or_below(images, sn)
    return 0 if image is None else rank_of(image)[2]


def kept_images(images: list[str], pinned: Iterable[int], kept: int) -> set[str]:
    """The `kept` newest images, and for every pin the image that it needs. The older ones may still be read, and a server begins from the second
    when the newest has rotted."""
    pins = {at_or_below(images, sn) for sn in pinned}
    return {*sorted(images)[-kept:], *(image for image in pins if image is not None)}


def kept_sn(images: list[str], pinned: Iterable[int], newest: int, first_sn: int) -> int:
    """The sn behind which the journal is needed: from any of the `newest` images to the present, and from an image to each pin.

    0 while there are fewer images. A pin has no effect when the journal, beginning with `first_sn`, does not lead to it any more: this server
    was renewed by a newer image.
    """
    ranks = sorted(rank_of(image)[2] for image in images)
    reach = ranks[-newest] if len(ranks) >= newest else 0
    pin = pinned_sn(images, pinned, first_sn)
    return reach if pin is None else min(reach, pin)


def pinned_sn(images: list[str], pinned: Iterable[int], first_sn: int) -> int | None:
    """The sn of the oldest image from which a journal that begins with `first_sn` leads to a pin.

    0 when it leads there without an image; None when it leads to none.
    """
    starts = [_start(images, sn) for sn in pinned]
    return min((start for start in starts if start + 1 >= first_sn), default=None)
