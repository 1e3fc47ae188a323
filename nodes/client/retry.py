"""How long the smart client waits before it asks again: jittered, growing, bounded."""

from __future__ import annotations

import random

from nodes.config import MILLISECOND

FIRST_NS = 5 * MILLISECOND
LONGEST_NS = 80 * MILLISECOND


def pause_ns(attempt: int, rng: random.Random) -> int:
    """Before the attempt with this number, from 1: half to all of a pause that doubles up to 80 ms."""
    longest = min(LONGEST_NS, FIRST_NS << min(attempt - 1, 10))
    return longest // 2 + rng.randrange(longest // 2 + 1)
