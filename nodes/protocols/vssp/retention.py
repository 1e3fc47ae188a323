"""Which images stay on a pool node, and from where on its journal is still needed (safety rule 14)."""

from __future__ import annotations

from collections.abc import Iterable

from nodes.protocols.vssp.manifest import rank_of

KEPT = 2
"""The newest, and the one before it, which somebody may be reading, and from which a server begins where the newest has rotted."""


def at_or_below(images: list[str], sn: int) -> str | None:
    """The newest image that holds nothing after sn."""
    fitting = [image for image in images if rank_of(image)[2] <= sn]
    return max(fitting, default=None)


def kept_images(images: list[str], pinned: Iterable[int]) -> set[str]:
    """The newest ones, and for every pin the one it needs."""
    pins = {at_or_below(images, sn) for sn in pinned}
    return {*sorted(images)[-KEPT:], *(image for image in pins if image is not None)}


def kept_sn(images: list[str], pinned: Iterable[int], newest: int, first_sn: int) -> int:
    """The journal from behind this sn is needed: to come from any of the `newest` images to the present, and from an image to each pin.

    0 while there are fewer images. A pin that the journal, which begins with `first_sn`, does not lead to any more holds nothing back: this
    server was renewed by an image that is newer.
    """
    ranks = sorted(rank_of(image)[2] for image in images)
    reach = ranks[-newest] if len(ranks) >= newest else 0
    pin = pinned_sn(images, pinned, first_sn)
    return reach if pin is None else min(reach, pin)


def pinned_sn(images: list[str], pinned: Iterable[int], first_sn: int) -> int | None:
    """The sn of the oldest image from which a journal that begins with `first_sn` leads to a pin.

    0 when it leads there without an image; None when it leads to none.
    """
    below = [at_or_below(images, sn) for sn in pinned]
    starts = [0 if image is None else rank_of(image)[2] for image in below]
    return min((start for start in starts if start + 1 >= first_sn), default=None)
