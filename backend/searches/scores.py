"""The measured power of the search: of each known bug its last search by `./cloverlab bench explore bugs`, kept for the page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from backend.errors import Malformed, reason_of
from backend.places import bug_scores_file
from nodes.real.private_files import private_directory, replace_file

FORMAT = 1
BYTES_MAX = 1 << 20
SECONDS_MAX = 1_000_000
"""Longest search for one bug."""
COMMAND = "./cloverlab bench explore bugs"

Seconds = Annotated[float, msgspec.Meta(ge=0, le=2 * SECONDS_MAX)]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=60)]


class BugScore(msgspec.Struct, frozen=True):
    """The last search for one bug on this machine."""

    family: Name
    invariant: Annotated[str, msgspec.Meta(max_length=200)]
    """Invariant that the bug violated; empty when it was not found."""
    took_s: Seconds
    """Processor seconds of each process until the bug was found, or of the whole search."""
    seeds: Annotated[int, msgspec.Meta(ge=0, le=10**9)]
    limit_s: Seconds
    """Processor seconds that each process had."""
    jobs: Annotated[int, msgspec.Meta(ge=1, le=10_000)]
    """Processes."""
    version: Name
    """Version of Cloverlab that was measured."""
    measured_at_s: Annotated[float, msgspec.Meta(ge=0, le=10**10)]
    """End of the search, in seconds since 1970."""


class _Head(msgspec.Struct):
    format: int


class ScoresFile(msgspec.Struct, frozen=True):
    format: int
    by_bug: Annotated[dict[Name, BugScore], msgspec.Meta(max_length=1_000)]


def scores() -> dict[str, BugScore]:
    """The score of each bug that was measured. Raises Malformed in one line."""
    file = bug_scores_file()
    try:
        return scores_in(file)
    except OSError as error:
        raise Malformed(f"{file}: {reason_of(error)}") from None


def keep_score(bug: str, score: BugScore) -> None:
    """Replaces the score of one bug and leaves the others; a damaged file begins anew. Raises OSError."""
    file = bug_scores_file()
    try:
        known = scores_in(file)
    except Malformed:
        known = {}
    private_directory(file.parent)
    replace_file(file, msgspec.json.encode(ScoresFile(FORMAT, known | {bug: score})))


def scores_in(file: Path) -> dict[str, BugScore]:
    """Empty where there is no file. Raises OSError, Malformed."""
    try:
        with file.open("rb") as opened:
            data = opened.read(BYTES_MAX + 1)
    except FileNotFoundError:
        return {}
    if len(data) > BYTES_MAX:
        raise Malformed(f"{file} has more than {BYTES_MAX} bytes; run {COMMAND} again")
    try:
        found = msgspec.json.decode(data, type=_Head).format
        if found != FORMAT:
            raise Malformed(f"{file} has format {found}, and not {FORMAT}; run {COMMAND} again")
        return msgspec.json.decode(data, type=ScoresFile).by_bug
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Malformed(f"{file} cannot be read: {error}; run {COMMAND} again") from None
