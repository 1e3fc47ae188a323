"""Pauses between the smart client's attempts: jittered, growing, bounded."""

from __future__ import annotations

import random

from nodes.config import MILLISECOND

FIRST_NS = 5 * MILLISECOND
LONGEST_NS = 80 * MILLISECOND


def pause_ns(attempt: int, rng: random.Random) -> int:
    """The pause before the attempt with this number, from 1: between half and all of a pause that doubles up to 80 ms."""
    longest = min(LONGEST_NS, FIRST_NS << min(attempt - 1, 10))
    return longest // 2 + rng.randrange(longest // 2 + 1)
