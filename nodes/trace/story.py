"""Stories: events as lines that a person reads from top to bottom. Each line is one step with its time and server."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
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
    """A step, with the kind of the message upon which its server took it."""
    upon = f"upon {stamped.carrier}: " if stamped.carrier else ""
    return stamped.at_ns, stamped.server, upon + words(stamped.event)


def led_to(events: Iterable[Stamped], places: Sequence[Cause]) -> list[Line]:
    """The causes of these events, from their calls and faults on: their chains, merged by time. A call stands at its beginning."""
    causes = Causes(events)
    return _merged(causes, [causes.walk(place) for place in places])


def _merged(causes: Causes, chains: Iterable[Sequence[Cause]]) -> list[Line]:
    steps = {step for chain in chains for step in chain}
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
    """The causes of the events that a check names as evidence, and the faults that stood at their servers; without evidence, the last turning
    points. Times count from `since_ns`."""
    causes = Causes(events if evidence else ())
    chains = [chain for chain in map(causes.walk, evidence) if chain]
    if not chains:
        return text(turns(events), LINES_MOST, 0, since_ns=since_ns)
    lines = _merged(causes, chains)
    stood = stood_at(events, lines)
    roots = [_line(causes, chain[0]) for chain in chains]
    lines = sorted([*lines, *stood], key=lambda line: line[0])
    return text(lines, kept={*stood, *roots}, since_ns=since_ns)


def stood_at(events: Iterable[Stamped], lines: Sequence[Line]) -> list[Line]:
    """The faults that had not ended when the last of these steps was taken, at servers that took one. What a cut or a slow disk keeps from
    happening has no event, and so no cause."""
    servers, until_ns = {server for _, server, _ in lines}, max((line[0] for line in lines), default=-1)
    standing: dict[int, Stamped] = {}
    for stamped in events:
        event = stamped.event
        if stamped.at_ns > until_ns:
            continue
        if isinstance(event, FaultInjected) and servers & {*event.targets}:
            standing[event.fault] = stamped
        elif isinstance(event, FaultEnded):
            standing.pop(event.fault, None)
    return [line for line in map(line_of, standing.values()) if line not in lines]


def text(
    lines: Sequence[Line],
    most: int = LINES_MOST,
    begins: int = FIRST_KEPT,
    kept: Collection[Line] = (),
    since_ns: int = 0,
) -> list[str]:
    """One line for each step. A long story has the first `begins` lines, the last ones and those `kept`, and counts the omitted ones. Times count
    from `since_ns`."""
    wide = max((len(server) for _, server, _ in lines), default=0)
    last = len(lines) - (most - begins) if len(lines) > most else 0
    shown: list[str] = []
    omitted = 0
    for number, line in enumerate(lines):
        if begins <= number < last and line not in kept:
            omitted += 1
            continue
        if omitted:
            shown.append(omitted_steps(omitted))
            omitted = 0
        at_ns, server, sentence = line
        shown.append(f"{(at_ns - since_ns) / 1e9:10.4f} s  {server:<{wide}}  {sentence}")
    return shown


def omitted_steps(count: int) -> str:
    return f"… {count} steps …" if count > 1 else "… 1 step …"


def story(events: Sequence[Stamped], place: Cause | None = None, most: int = LINES_MOST) -> str:
    """The causes of the event at `place`, or without one all events, as text."""
    lines = led_to(events, [place]) if place is not None else [line_of(stamped) for stamped in events]
    return "\n".join(text(lines, most))
