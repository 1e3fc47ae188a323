"""The format number of a file, with its complement. A rotten number can then be distinguished from that of another version, whose file must not
be altered."""

from __future__ import annotations

NUMBER_MAX = 100


def of_other_version(found: int | None, known: int) -> str:
    """What is wrong with a file of another format, and what to do."""
    return (
        f"has format {found}; this version reads format {known}. Nothing was changed: "
        "start the version that wrote it, or begin with a new --data directory"
    )


def stored(number: int) -> int:
    """The 16 stored bits, for numbers from 1 to `NUMBER_MAX`."""
    return number | (~number & 0xFF) << 8


def number_of(found: int) -> int | None:
    """The format number. None when the two bytes are neither complements nor, as in old files, a number alone."""
    upper, number = found >> 8, found & 0xFF
    return number if upper in (0, ~number & 0xFF) else None
