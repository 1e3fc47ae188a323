"""Durations and rates as text."""

from __future__ import annotations

import re

UNITS_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "m": 60_000_000_000}
DURATION = re.compile(r"^(\d{1,12}(?:\.\d{1,12})?) ?(ns|us|ms|s|m)$")
RATE = re.compile(r"^(\d{1,12}(?:\.\d{1,12})?) ?/s$")


def nanoseconds(text: str) -> int:
    """Raises ValueError with the accepted forms."""
    found = DURATION.match(text)
    if found is None:
        raise ValueError(f"{text[:40]!r} is not a duration; write it like 500ms, 12s or 2m")
    return round(float(found[1]) * UNITS_NS[found[2]])


def milliseconds(text: str) -> int:
    return max(1, nanoseconds(text) // 1_000_000)


def per_second(text: str) -> float:
    """`max` means as fast as answers come. Raises ValueError."""
    if text == "max":
        return 0.0
    found = RATE.match(text)
    if found is None:
        raise ValueError(f"{text[:40]!r} is not a rate; write it like 200/s, or max")
    return float(found[1])
