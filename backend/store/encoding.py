"""Conversions between the three forms of an event: `Stamped` for transport, a row of the store, and JSON with named fields."""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from nodes.trace.base import Event
from nodes.trace.block_events import FileCalled, ReplicaRemoved, ReplicaStored
from nodes.trace.events import (
    AnyEvent,
    Applied,
    Called,
    Committed,
    Delivered,
    Durable,
    Ignored,
    Invoked,
    SharedStep,
    Stamped,
)
from nodes.trace.files import left_out
from nodes.trace.journal_events import JournalStored
from nodes.trace.prose import TERMS, Terms, is_story, sentence

Row = tuple[int, int, str, int, int, int, int, str, int | None, bytes, str, str]
"""seq, run, server, boot, number, at_ns, cause, kind, sn, body, cause_server, carrier."""
INTO_EVENTS = "INTO events VALUES (?,?,?,?,?,?,?,?,?,?,?,?)"
"""The end of the statement that takes a row."""

OF_ONE_GROUP = (Durable, Committed, Applied)
FREQUENT: tuple[type[Event], ...] = (
    *OF_ONE_GROUP, Called, Invoked, Delivered, SharedStep, Ignored, FileCalled, ReplicaStored, ReplicaRemoved,
    JournalStored,
)  # fmt: skip
"""Events that the load makes, as often as it calls. The store keeps a number of the newest; the others stay for as long as is asked."""
WITHOUT_SN = -1
"""Serial number in the rows of frequent events that are not about one journal group."""
KINDS: dict[str, type[Event]] = {kind.__name__: kind for kind in get_args(AnyEvent)}
RARE = sorted(name for name, kind in KINDS.items() if kind not in FREQUENT)
"""Names of the others: roles, locks, sessions, steps, faults, warnings."""
FIELDS: dict[type[Event], tuple[str, ...]] = {kind: kind.__struct_fields__ for kind in KINDS.values()}
BIG = ("digest", "crc", "session", "block")
"""Integers that may exceed a browser's exact range; they travel as hexadecimal text."""

TAKEN = frozenset(
    ("seq", "server", "boot", "number", "at_ns", "cause", "cause_server", "carrier", "kind", "says", "story")
)
"""Of the stamp: a field of an event by such a name is reported as `of_` and the name."""

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(AnyEvent).decode


def row_of(stamped: Stamped, seq: int, run: int) -> Row:
    event = stamped.event
    sn = event.sn if isinstance(event, OF_ONE_GROUP) else WITHOUT_SN if isinstance(event, FREQUENT) else None
    return (
        seq, run, stamped.server, stamped.boot, stamped.number, stamped.at_ns, stamped.cause,
        type(event).__name__, sn, _encode(event), stamped.cause_server, stamped.carrier,
    )  # fmt: skip


def stamped_of(row: Any) -> Stamped:
    """The event of a row with the columns server, boot, number, at_ns, cause, body, cause_server, carrier."""
    server, boot, number, at_ns, cause, body, cause_server, carrier = row
    try:
        event = _decode(body)
    except msgspec.ValidationError:
        kind = msgspec.msgpack.decode(body)[0]
        if kind in KINDS:
            raise
        event = left_out(str(kind))
    return Stamped(server, boot, number, at_ns, cause, event, cause_server, carrier)


def named(stamped: Stamped, seq: int, terms: Terms = TERMS) -> dict[str, Any]:
    """The event as in responses of the API."""
    event = stamped.event
    reported: dict[str, Any] = {
        "seq": seq, "server": stamped.server, "boot": stamped.boot, "number": stamped.number,
        "at_ns": stamped.at_ns, "cause": stamped.cause, "cause_server": stamped.cause_server,
        "carrier": stamped.carrier,
        "kind": type(event).__name__, "says": sentence(stamped, terms), "story": is_story(event),
    }  # fmt: skip
    for field in FIELDS[type(event)]:
        value = getattr(event, field)
        name = f"of_{field}" if field in TAKEN else field
        reported[name] = f"{value:x}" if field in BIG and isinstance(value, int) else value
    return reported


def worth_storing(event: Event) -> bool:
    """Whether the store keeps the event. Calls are kept as buckets; only a failed call is an event of its own."""
    return not isinstance(event, Called) or event.error != ""
