"""The file of a run: one gzip stream of JSON lines, which `zcat` shows.

    file = RunHeader PictureLine* FailoverLine* BucketLine* EventLine* End

Every line but the first is an array that begins with its kind. The checksum of `End` is the CRC-32C of all bytes before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import msgspec
from msgspec import Meta

from backend.events.failovers import Failover
from backend.picture import Picture
from nodes.config import ClusterConfig
from nodes.trace.events import Stamped

FORMAT = 1
LINE_BYTES = 4 << 20
"""Longest line."""
UNPACKED_BYTES = 4 << 30
"""Largest file, unpacked."""
LINES = 5_000_000
SUFFIX = ".cloverrun"

Whole = Annotated[int, Meta(ge=0, le=1 << 62)]
Count = Annotated[int, Meta(ge=0, le=1 << 40)]
Slot = Annotated[int, Meta(ge=0, le=1_000)]
"""A step of `LatencyHistogram`."""
Text = Annotated[str, Meta(max_length=200)]


class RunFileDamaged(Exception):
    """A file that must not be opened; one line says what is wrong, and where."""


class RunFormat(msgspec.Struct):
    """What the header of every format begins with."""

    cloverrun: int
    """Number of the format."""


class RunHeader(msgspec.Struct, frozen=True):
    version: Text
    """Version of the program that wrote the file."""
    exported_at: Text
    """Time of day, UTC, ISO 8601; also the next two."""
    started_at: Text
    ended_at: Text
    """Time of the export for a run that lasted still."""
    run: Whole
    """Number of the run where it was lived."""
    started_ns: Whole
    first_seq: Whole
    last_seq: Whole
    cluster: ClusterConfig
    cloverrun: int = FORMAT


class _Line(msgspec.Struct, array_like=True, frozen=True, forbid_unknown_fields=True):
    pass


class PictureLine(_Line, array_like=True, frozen=True, tag="picture"):
    picture: Picture


class FailoverLine(_Line, array_like=True, frozen=True, tag="failover"):
    at_ns: Whole
    failover: Failover


class BucketLine(_Line, array_like=True, frozen=True, tag="calls"):
    """Calls of one bucket (backend/store/tiers.py)."""

    width_ns: Whole
    at_ns: Whole
    ok: Count
    failed: Count
    latencies: dict[Slot, Count]


class EventLine(_Line, array_like=True, frozen=True, tag="event"):
    seq: Whole
    stamped: Stamped


class End(_Line, array_like=True, frozen=True, tag="end"):
    lines: Whole
    """Number of the lines before this one."""
    checksum: Whole


Line = PictureLine | FailoverLine | BucketLine | EventLine
ORDER: tuple[type, ...] = (PictureLine, FailoverLine, BucketLine, EventLine, End)


def encoded(lines: Iterable[RunHeader | Line | End]) -> bytes:
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
