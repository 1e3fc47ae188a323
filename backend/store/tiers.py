"""How finely the past is kept: the calls of a run in buckets of several widths, its pictures ever further apart."""

from __future__ import annotations

from typing import NamedTuple

from backend.errors import Malformed

SECOND_NS = 1_000_000_000
HOUR_NS = 3_600 * SECOND_NS
DAY_NS = 24 * HOUR_NS
ROWS_MOST = 40_000
"""Largest number of rows that one question about calls reads."""


class Tier(NamedTuple):
    width_ns: int
    kept_ns: int
    """Age beyond which rows of this tier are removed; 0 for as long as their run."""


CALLS = (
    Tier(SECOND_NS // 10, HOUR_NS),
    Tier(SECOND_NS, 6 * HOUR_NS),
    Tier(10 * SECOND_NS, 3 * DAY_NS),
    Tier(300 * SECOND_NS, 0),
)
"""Buckets of calls. Every call is in one bucket of each tier."""
PICTURES = (Tier(60 * SECOND_NS, HOUR_NS), Tier(600 * SECOND_NS, DAY_NS))
"""Of pictures older than `kept_ns`, the first of each span of `width_ns` stays."""
BUCKET_NS = CALLS[0].width_ns


def tier_of(from_ns: int, to_ns: int, last_ns: int, wanted_ns: int) -> Tier:
    """The widest tier not wider than `wanted_ns` that still has the span; the narrowest one that has it when there is none.

    `last_ns` is the end of the run. Raises Malformed for a span of too many rows.
    """
    able = [
        tier
        for tier in CALLS
        if (not tier.kept_ns or from_ns >= last_ns - tier.kept_ns)
        and to_ns - from_ns <= ROWS_MOST * tier.width_ns
    ]
    if not able:
        days = ROWS_MOST * CALLS[-1].width_ns // DAY_NS
        raise Malformed(f"the span is too long: at most {days} days can be asked for at once")
    return max((tier for tier in able if tier.width_ns <= wanted_ns), default=able[0])
