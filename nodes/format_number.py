"""The format number of a file and its complement: rot in it is told from a file of another version, which is not ours to alter."""

from __future__ import annotations

NUMBER_MAX = 100


def stored(number: int) -> int:
    """As 16 bits, for numbers from 1 to `NUMBER_MAX`."""
    return number | (~number & 0xFF) << 8


def number_of(found: int) -> int | None:
    """None when the two octets are neither complements nor, as once, a number alone."""
    upper, number = found >> 8, found & 0xFF
    return number if upper in (0, ~number & 0xFF) else None
