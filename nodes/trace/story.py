"""Stories: events as lines that a person reads from top to bottom. Each line is one step with its time and server."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from nodes.trace.causes import Causes
from nodes.trace.events import (
    Applied,
    Commanded,
    Durable,
    FaultEnded,
    FaultInjected,
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
from nodes.trace.lease_events import LeaseLost
from nodes.trace.present import Cause
from nodes.trace.prose import begins, words

LINES_MOST = 24
"""Largest number of lines of a story: its first steps and its last ones."""
FIRST_KEPT = 4
TURNS = (
    Commanded,
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
"""Kinds of events that are turning points of a cluster's run."""

IN_ROWS = (Applied, Durable, JournalStored)

Line = tuple[int, str, str]
"""(ns, server, sentence)."""


def line_of(stamped: Stamped) -> Line:
    return stamped.at_ns, stamped.server, words(stamped.event)


def led_to(events: Iterable[Stamped], places: Sequence[Cause]) -> list[Line]:
    """The causes of these events, from their calls and faults on: their chains, merged by time. A call stands at its beginning."""
    causes = Causes(events)
    steps = {step for place in places for step in causes.walk(place)}
    lines = [(causes.order(step), _line(causes, step), _repeated(causes, step)) for step in steps]
    lines.sort(key=lambda each: (each[1][0], each[0]))
    reported: list[Line] = []
    for (_, line, repeated), following in zip_longest(lines, lines[1:]):
        if following is None or not repeated or (line[1], repeated) != (following[1][1], following[2]):
            reported.append(line)
    return reported


def _repeated(causes: Causes, step: Cause) -> str:
    """The kind of an event that a server often repeats in a row, so that the last one suffices. Empty for others."""
    stamped = causes.events.get(step)
    return type(stamped.event).__name__ if stamped is not None and isinstance(stamped.event, IN_ROWS) else ""


def _line(causes: Causes, step: Cause) -> Line:
    reported = causes.call(step)
    if reported is not None:
        return reported.event.invoked_ns, reported.server, begins(reported.event)  # type: ignore[union-attr,arg-type]
    return line_of(causes.events[step])


def turns(events: Iterable[Stamped]) -> list[Line]:
    """The last turning points of the cluster, for a failure without known evidence."""
    return [line_of(stamped) for stamped in events if isinstance(stamped.event, TURNS)]


def failure(events: Sequence[Stamped], evidence: Sequence[Cause] = (), since_ns: int = 0) -> list[str]:
    """The causes of the events that a check names as evidence; without evidence, the last turning points. Times count from `since_ns`."""
    lines = led_to(events, evidence) if evidence else []
    begins = FIRST_KEPT if lines else 0
    lines = lines or turns(events)
    return text([(at_ns - since_ns, *reported) for at_ns, *reported in lines], LINES_MOST, begins)  # type: ignore[misc]


def text(lines: Sequence[Line], most: int = LINES_MOST, begins: int = FIRST_KEPT) -> list[str]:
    """One line for each step. A long story keeps the first `begins` lines and the last ones, and counts the omitted ones."""
    wide = max((len(server) for _, server, _ in lines), default=0)
    shown = [f"{at_ns / 1e9:10.4f} s  {server:<{wide}}  {sentence}" for at_ns, server, sentence in lines]
    if len(shown) > most:
        shown[begins : begins - most] = [f"… {len(shown) - most} steps …"]
    return shown


def story(events: Sequence[Stamped], place: Cause | None = None, most: int = LINES_MOST) -> str:
    """The causes of the event at `place`, or without one all events, as text."""
    lines = led_to(events, [place]) if place is not None else [line_of(stamped) for stamped in events]
    return "\n".join(text(lines, most))
