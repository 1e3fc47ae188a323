"""Stories: events as lines that a person reads from top to bottom. One step, one line: when, who, what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nodes.trace.causes import Causes
from nodes.trace.events import (
    CheckFailed,
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

Line = tuple[int, str, str]
"""(ns, server, sentence)."""


def line_of(stamped: Stamped) -> Line:
    return stamped.at_ns, stamped.server, words(stamped.event)


def led_to(events: Iterable[Stamped], places: Sequence[Cause]) -> list[Line]:
    """What led to these events, from their calls and faults on: their chains, merged in the order of time. A call stands where it began."""
    causes = Causes(events)
    steps = {step for place in places for step in causes.walk(place)}
    lines = [(causes.order(step), _line(causes, step)) for step in steps]
    return [line for _, line in sorted(lines, key=lambda each: (each[1][0], each[0]))]


def _line(causes: Causes, step: Cause) -> Line:
    told = causes.call(step)
    if told is not None:
        return told.event.invoked_ns, told.server, begins(told.event)  # type: ignore[union-attr,arg-type]
    return line_of(causes.event(step))


def turns(events: Iterable[Stamped]) -> list[Line]:
    """Where no event is known to be the wrong one: what the cluster did last."""
    return [line_of(stamped) for stamped in events if isinstance(stamped.event, TURNS)]


def failure(events: Sequence[Stamped], failed: CheckFailed) -> list[str]:
    """What led to the events that a check holds against the cluster; what happened last where it names none."""
    lines = led_to(events, failed.evidence) if failed.evidence else []
    return text(lines or turns(events))


def text(lines: Sequence[Line], most: int = LINES_MOST) -> list[str]:
    """One line for each step; the middle of a long story is left out and counted."""
    if len(lines) > most:
        first, last = lines[:FIRST_KEPT], lines[FIRST_KEPT - most :]
        left_out = len(lines) - len(first) - len(last)
        return [*_rendered(first), f"… {left_out} steps …", *_rendered(last)]
    return _rendered(lines)


def _rendered(lines: Sequence[Line]) -> list[str]:
    wide = max((len(server) for _, server, _ in lines), default=0)
    return [f"{at_ns / 1e9:10.4f} s  {server:<{wide}}  {sentence}" for at_ns, server, sentence in lines]


def story(events: Sequence[Stamped], place: Cause | None = None, most: int = LINES_MOST) -> str:
    """What led to the event at this place, or (without one) what happened, as text."""
    lines = led_to(events, [place]) if place is not None else [line_of(stamped) for stamped in events]
    return "\n".join(text(lines, most))
