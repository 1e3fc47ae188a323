"""The last outcome of each experiment, as `./cloverlab reproduce` keeps it for the page."""

from __future__ import annotations

from typing import Any

import msgspec

from backend.errors import Malformed, NotThere, reason_of
from backend.places import reproduced

BYTES_MAX = 4 << 20


class ReproducedFile(msgspec.Struct):
    """The parts of `NAME.json` that the page shows."""

    figures: dict[str, float]
    paper: dict[str, float] = {}
    config: dict[str, Any] = {}
    notes: list[str] = []


def ran_at_s(name: str) -> float:
    """When the experiment was last run, in seconds since 1970; 0 for never."""
    try:
        return (reproduced() / f"{name}.json").stat().st_mtime
    except OSError:
        return 0.0


def outcome_of(name: str) -> ReproducedFile | None:
    """The last outcome; None when there is none. Raises Malformed for a damaged file."""
    if not ran_at_s(name):
        return None
    try:
        return msgspec.json.decode(bytes_of(f"{name}.json"), type=ReproducedFile)
    except msgspec.DecodeError as error:
        raise Malformed(f"{reproduced() / name}.json cannot be read: {error}; run it again") from None


def plot_of(name: str) -> bytes:
    """The plot as SVG. Raises NotThere, Malformed."""
    if not (reproduced() / f"{name}.svg").is_file():
        raise NotThere(f"{name[:40]} has no plot yet: ./cloverlab reproduce {name[:40]}")
    return bytes_of(f"{name}.svg")


def bytes_of(file: str) -> bytes:
    """Raises Malformed."""
    path = reproduced() / file
    try:
        with path.open("rb") as opened:
            data = opened.read(BYTES_MAX + 1)
    except OSError as error:
        raise Malformed(f"{path}: {reason_of(error)}") from None
    if len(data) > BYTES_MAX:
        raise Malformed(f"{path} has more than {BYTES_MAX} bytes; run the experiment again")
    return data
