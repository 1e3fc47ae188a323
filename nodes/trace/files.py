"""The files of a trace: magic and format number, then records of length (u32, little-endian) and MessagePack of `Stamped`.

A file is named by the number of its first event.
"""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import msgspec

from nodes.format_number import of_other_version
from nodes.trace.events import AnyEvent, Stamped, Warned

MAGIC = b"CLVRTRCE"
FORMAT = 1
HEAD = MAGIC + FORMAT.to_bytes(2, "little")
RECORD_MAX = 1 << 24

KINDS = frozenset(kind.__name__ for kind in get_args(AnyEvent))
_decode = msgspec.msgpack.Decoder(Stamped).decode
_decode_any = msgspec.msgpack.Decoder(tuple).decode


class TraceDamaged(Exception):
    """A trace file that cannot be read further; one line gives the place."""


def name_of(first: int) -> str:
    return f"{first:012d}.trace"


def files_of(directory: Path) -> list[Path]:
    """Trace files in order; empty when there is no directory."""
    try:
        return sorted(path for path in directory.iterdir() if path.suffix == ".trace")
    except FileNotFoundError:
        return []


def check_head(path: Path, data: bytes) -> None:
    """Raises TraceDamaged; both format numbers are named when it is an unknown one."""
    if data[:8] != MAGIC:
        raise TraceDamaged(f"{path} is no trace: it begins with {data[:8]!r}")
    number = int.from_bytes(data[8:10], "little")
    if number != FORMAT:
        raise TraceDamaged(f"{path} {of_other_version(number, FORMAT)}")


def left_out(kind: str) -> Warned:
    """Replaces an event of an unknown kind."""
    return Warned(f"an event {kind[:40]} of another version is left out")


def of_unknown_kind(record: memoryview) -> Stamped | None:
    """A record with an event that only another version of Cloverlab has, as a warning in its place; None for a damaged one."""
    try:
        server, boot, number, at_ns, cause, (kind, *_), *way = _decode_any(record)
        if not isinstance(kind, str) or kind in KINDS or not kind.isidentifier():
            return None
        left = (server, boot, number, at_ns, cause)
        return msgspec.convert((*left, left_out(kind), *way), Stamped)
    except (msgspec.DecodeError, UnicodeDecodeError, TypeError, ValueError):
        return None


def whole_records(path: Path, data: bytes, offset: int) -> tuple[list[Stamped], int]:
    """The events of the whole records from `offset` on, and the offset of the first incomplete record."""
    found: list[Stamped] = []
    while offset + 4 <= len(data):
        length = int.from_bytes(data[offset : offset + 4], "little")
        if length > RECORD_MAX:
            raise TraceDamaged(f"{path} has a record of {length} bytes at offset {offset}")
        end = offset + 4 + length
        if end > len(data):
            break
        record = memoryview(data)[offset + 4 : end]
        try:
            found.append(_decode(record))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            unknown = of_unknown_kind(record)
            if unknown is None:
                raise TraceDamaged(f"{path} has an unreadable record at offset {offset}: {error}") from None
            found.append(unknown)
        offset = end
    return found, offset
