"""A wire that flips bits, only in content with its own checksums: all other content has TCP's."""

from __future__ import annotations

import random
from typing import Any

import msgspec

from nodes.wire.messages import Message


def damaged(message: Message, rng: random.Random) -> Message:
    """The message with one bit of its bytes flipped; the message itself when it carries no checksummed bytes."""
    carrying: Any = message
    data = getattr(message, "data", b"")
    if not data or not hasattr(message, "sums"):
        return message
    flipped = bytearray(data)
    flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
    changed: Message = msgspec.structs.replace(carrying, data=bytes(flipped))
    return changed
