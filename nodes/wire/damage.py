"""A wire that flips bits. Only in content that has checksums of its own: everything else has TCP's."""

from __future__ import annotations

import random
from typing import Any

import msgspec

from nodes.wire.messages import Message


def damaged(message: Message, rng: random.Random) -> Message:
    """The same message with one bit of its octets flipped; itself when it carries none with checksums."""
    carrying: Any = message
    octets = getattr(message, "octets", b"")
    if not octets or not hasattr(message, "sums"):
        return message
    flipped = bytearray(octets)
    flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
    changed: Message = msgspec.structs.replace(carrying, octets=bytes(flipped))
    return changed
