"""Checks that the lines of a file make up a run that the page can show."""

from __future__ import annotations

import copy

from pydantic import ValidationError

from backend.clusters import views
from backend.clusters.models import PictureOut
from backend.picture import Picture
from backend.run_files.records import (
    ORDER,
    BucketLine,
    EventLine,
    Line,
    PictureLine,
    RunFileDamaged,
    RunHeader,
)
from backend.store.encoding import FREQUENT
from nodes.roles import LETTERS
from nodes.trace.events import FaultInjected, Placed, ServerRemoved
from nodes.trace.prose import sentence

NAMES = 500
"""Most servers, and most removed ones."""
FAULTS = 1_000
"""Most faults in force at one server."""
WHOLE = range((1 << 62) + 1)


class RunCheck:
    """Takes the lines in order. Every method raises RunFileDamaged with what is wrong and what would be right."""

    def __init__(self, header: RunHeader):
        if header.last_seq < header.first_seq - 1:
            raise RunFileDamaged(f"last_seq {header.last_seq} is before first_seq {header.first_seq}")
        self._header = header
        self._kind = 0
        self._picture = Picture()
        self._last: tuple[int, ...] = ()

    def see(self, line: Line) -> None:
        kind = ORDER.index(type(line))
        if kind < self._kind:
            raise RunFileDamaged(f"{name_of(kind)!r} comes behind {name_of(self._kind)!r}")
        if kind > self._kind:
            self._kind, self._last = kind, ()
        key = self._key(line)
        if key <= self._last:
            raise RunFileDamaged(f"{name_of(kind)!r} is not in the order of its number")
        self._last = key

    def _key(self, line: Line) -> tuple[int, ...]:
        if isinstance(line, PictureLine):
            return self._pictured(line.picture)
        if isinstance(line, EventLine):
            return self._happened(line)
        return (line.width_ns, line.at_ns) if isinstance(line, BucketLine) else (line.at_ns,)

    def _pictured(self, picture: Picture) -> tuple[int]:
        self._within(picture.seq, self._header.first_seq - 1)
        if picture.at_ns not in WHOLE:
            raise RunFileDamaged("at_ns of a picture is not a time since the start")
        try:
            PictureOut.model_validate(views.picture(picture))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            raise RunFileDamaged(f"a picture cannot be shown: {where}: {first['msg']}") from None
        if not self._last:
            self._picture = copy.deepcopy(picture)
        return (picture.seq,)

    def _happened(self, line: EventLine) -> tuple[int]:
        self._within(line.seq, self._header.first_seq)
        stamped, picture = line.stamped, self._picture
        event = stamped.event
        numbers = (stamped.boot, stamped.number, stamped.at_ns, stamped.cause, getattr(event, "sn", 0))
        if any(number not in WHOLE for number in numbers):
            raise RunFileDamaged("a number of an event is not between 0 and 2^62")
        try:
            picture.apply(stamped, line.seq)
            if not isinstance(event, FREQUENT):
                sentence(stamped)
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
            raise RunFileDamaged(
                f"the event {type(event).__name__} lacks what the page needs to show it"
            ) from None
        if isinstance(event, Placed) and event.state not in LETTERS:
            raise RunFileDamaged(
                f"the role {event.state[:40]!r} is unknown; there are {', '.join(filter(None, LETTERS))}"
            )
        if isinstance(event, FaultInjected):
            hit = (picture.process(name) for name in event.targets)
            if any(each is not None and len(each.faults) > FAULTS for each in hit):
                raise RunFileDamaged(f"more than {FAULTS} faults are in force at one server")
        removed = len(picture.removed) if isinstance(event, ServerRemoved) else 0
        if max(len(picture.servers), len(picture.groups), removed) > NAMES:
            raise RunFileDamaged(f"there are more than {NAMES} servers")
        return (line.seq,)

    def _within(self, seq: int, first: int) -> None:
        last = self._header.last_seq
        if not first <= seq <= last:
            raise RunFileDamaged(f"number {seq} is not of this run, which has {first} to {last}")


def name_of(kind: int) -> str:
    return str(ORDER[kind].__struct_config__.tag)  # type: ignore[attr-defined]
