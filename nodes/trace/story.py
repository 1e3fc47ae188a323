"""Stories: events as lines that a person reads from top to bottom. One step, one line: when, who, what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from nodes.trace.causes import Causes
from nodes.trace.events import (
    Applied,
    CheckFailed,
    Durable,
    FaultEnded,
    FaultInjected,
    LeaseLost,
    ProcessEnded,
    RoleChanged,
    Serving,
    SessionEnded,
    Stamped,
    Started,
    StepTaken,
    Stopped,
    StoppedServing,
)
from nodes.trace.journal_events import JournalStored
from nodes.trace.present import Cause
from nodes.trace.prose import begins, words

LINES_MOST = 24
"""Of one story: its first steps and its last ones."""
FIRST_KEPT = 4
TURNS = (
    FaultInjected,
    FaultEnded,
    Started,
    Stopped,
    ProcessEnded,
    SessionEnded,
    LeaseLost,
    RoleChanged,
    StepTaken,
    Serving,
    StoppedServing,
)
"""What the course of a cluster turns on."""

IN_ROWS = (Applied, Durable, JournalStored)

Line = tuple[int, str, str]
"""(ns, server, sentence)."""


def line_of(stamped: Stamped) -> Line:
    return stamped.at_ns, stamped.server, words(stamped.event)


def led_to(events: Iterable[Stamped], places: Sequence[Cause]) -> list[Line]:
    """What led to these events, from their calls and faults on: their chains, merged in the order of time. A call stands where it began."""
    causes = Causes(events)
    steps = {step for place in places for step in causes.walk(place)}
    lines = [(causes.order(step), _line(causes, step), _repeated(causes, step)) for step in steps]
    lines.sort(key=lambda each: (each[1][0], each[0]))
    told: list[Line] = []
    for (_, line, repeated), following in zip_longest(lines, lines[1:]):
        if following is None or not repeated or (line[1], repeated) != (following[1][1], following[2]):
            told.append(line)
    return told


def _repeated(causes: Causes, step: Cause) -> str:
    """The kind of an event of which a server often tells several in a row: the last one tells all. Empty for others."""
    stamped = causes.events.get(step)
    return type(stamped.event).__name__ if stamped is not None and isinstance(stamped.event, IN_ROWS) else ""


def _line(causes: Causes, step: Cause) -> Line:
    told = causes.call(step)
    if told is not None:
        return told.event.invoked_ns, told.server, begins(told.event)  # type: ignore[union-attr,arg-type]
    return line_of(causes.events[step])


def turns(events: Iterable[Stamped]) -> list[Line]:
    """Where no event is known to be the wrong one: what the cluster did last."""
    return [line_of(stamped) for stamped in events if isinstance(stamped.event, TURNS)]


def failure(events: Sequence[Stamped], failed: CheckFailed | None = None, since_ns: int = 0) -> list[str]:
    """What led to the events that a check holds against the cluster; what happened last where it names none. Times count from `since_ns`."""
    lines = led_to(events, failed.evidence) if failed is not None and failed.evidence else []
    begins = FIRST_KEPT if lines else 0
    lines = lines or turns(events)
    return text([(at_ns - since_ns, *told) for at_ns, *told in lines], LINES_MOST, begins)  # type: ignore[misc]


def text(lines: Sequence[Line], most: int = LINES_MOST, begins: int = FIRST_KEPT) -> list[str]:
    """One line for each step; of a long story the first `begins` and the last ones, and how many are left out between them."""
    wide = max((len(server) for _, server, _ in lines), default=0)
    shown = [f"{at_ns / 1e9:10.4f} s  {server:<{wide}}  {sentence}" for at_ns, server, sentence in lines]
    if len(shown) > most:
        shown[begins : begins - most] = [f"… {len(shown) - most} steps …"]
    return shown


def story(events: Sequence[Stamped], place: Cause | None = None, most: int = LINES_MOST) -> str:
    """What led to the event at this place, or (without one) what happened, as text."""
    lines = led_to(events, [place]) if place is not None else [line_of(stamped) for stamped in events]
    return "\n".join(text(lines, most))
