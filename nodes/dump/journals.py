"""The entries of a journal on disk, of any family."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from nodes.errors import Damaged
from nodes.protocols.paxos.log import NUMBER, decode_record
from nodes.replicas.log import decode_group, named_fields
from nodes.servers.bookie import FENCE, Stored
from nodes.storage.journal_file import SEGMENT_NAME
from nodes.storage.records import (
    FRAME,
    HEAD,
    HEADER,
    CorruptJournal,
    RecordPlace,
    check_header,
    has_header,
    scan,
)

SEGMENT_MAX = 1 << 30
"""Bytes of the largest segment that is read; a server begins a new one after 16 MiB."""
SUFFIX = ".seg"

_stored = msgspec.msgpack.Decoder(Stored)


class CutOff(Damaged):
    """The file ends within a record: the tail of an append that was interrupted, or is under way."""


def segments(path: Path) -> list[Path]:
    """The segments of a journal in order. `path` is a server's directory, its journal, or one segment. Raises FileNotFoundError."""
    if path.is_file():
        return [path]
    for directory in (path / "journal", path):
        found = sorted(directory.glob(f"*{SUFFIX}"))
        if found:
            return found
    raise FileNotFoundError(
        f"{path} has no journal: neither {SUFFIX} files nor a directory `journal` with some"
    )


def entries(path: Path, from_sn: int, to_sn: int) -> Iterator[dict[str, Any]]:
    """The entries with serial numbers from `from_sn` to `to_sn`, by field name, in the order of the file.

    Raises Damaged, after all that is whole, with the place and the reason; OSError.
    """
    found = segments(path)
    next_sn = 0
    for file in found:
        for data, entry in _records(file, next_sn, file == found[-1]):
            next_sn = entry.sn + 1
            shown = named(file, entry, data)
            if from_sn <= shown["sn"] <= to_sn:
                yield shown


def _records(file: Path, next_sn: int, last: bool) -> Iterator[tuple[bytes, RecordPlace]]:
    """The payload and the place of each record. `next_sn`: sn of the first one; 0 for any."""
    stem = file.name.removesuffix(SUFFIX)
    if not SEGMENT_NAME.match(stem):
        raise FileNotFoundError(
            f"{file.name} is no segment: the name of one is the 20 digits of its first sn and {SUFFIX}"
        )
    if next_sn not in (0, int(stem)):
        raise CorruptJournal(str(file), 0, int(stem), f"sn {next_sn} should come next")
    size = file.stat().st_size
    if size > SEGMENT_MAX:
        raise CorruptJournal(
            str(file), 0, int(stem), f"{size} bytes are no segment; {SEGMENT_MAX} are the most"
        )
    data = file.read_bytes()
    if not has_header(data):
        raise CutOff(f"{file} has {len(data)} bytes and no header: it was cut off, or is being written")
    check_header(str(file), data, int(stem))
    end, sn = HEADER.size, int(stem)
    for entry in scan(str(file), data, int(stem), last):
        end, sn = entry.end, entry.sn + 1
        yield data[entry.start + FRAME.size + HEAD.size : end], entry
    if end != len(data):
        where = f"{file} has {len(data) - end} bytes behind offset {end} (sn {sn})"
        raise CutOff(f"{where} that are no whole record: a tail that was cut off, or is being written")


def named(file: Path, entry: RecordPlace, payload: bytes) -> dict[str, Any]:
    """An entry by field name, with the family's numbers: a journal group, a slot of Paxos, or a bookie's entry. Raises CorruptJournal."""
    for decode in (_group, _slot, _entry):
        try:
            return decode(payload)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
    raise CorruptJournal(str(file), entry.start, entry.sn, "the record is whole, but of no family's form")


def _group(payload: bytes) -> dict[str, Any]:
    return named_fields(decode_group(payload))


def _slot(payload: bytes) -> dict[str, Any]:
    """A record under its ballot, or under ballot 0 the last slot of the decided prefix."""
    if len(payload) < 2 * NUMBER.size:
        raise msgspec.DecodeError("too short")
    [ballot] = NUMBER.unpack_from(payload)
    if not ballot:
        [slot] = NUMBER.unpack_from(payload, NUMBER.size)
        msgspec.msgpack.decode(payload[2 * NUMBER.size :])
        return {"sn": slot, "epoch": 0, "decided_up_to": slot, "records": []}
    return {"ballot": ballot, **named_fields(decode_record(payload[NUMBER.size :]))}


def _entry(payload: bytes) -> dict[str, Any]:
    stored = _stored.decode(payload)
    if stored.sn == FENCE:
        return {"ledger": stored.ledger, "sn": FENCE, "epoch": 0, "fence": True, "records": []}
    return {"ledger": stored.ledger, **_group(stored.data)}
