"""The newest changes of the global view, each with the events that led to it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from backend.names import CLIENT, CONTROL, COORDINATION
from backend.running_cluster import Running
from backend.store import queries
from backend.store.encoding import RARE, named
from backend.vocabulary import terms_of
from nodes.trace.causes import Causes, stamped_cause
from nodes.trace.events import Configured, EpochRaised, LockHeld, Placed, SessionEnded, Stamped
from nodes.trace.lease_events import LockRemoved
from nodes.trace.outside_causes import ROOT, node_of
from nodes.trace.present import UNKNOWN

CHANGES: tuple[type, ...] = (Configured, EpochRaised, LockHeld, LockRemoved, Placed, SessionEnded)
CHANGES_MOST = 50
EVENTS_MOST = 2_000
"""Newest events of the run, frequent ones aside, among which causes are found."""
CAUSES_MOST = 6
Render = Callable[[Stamped], dict[str, Any]]


async def read_changes(lab: Running) -> dict[str, Any]:
    await lab.store.flush()
    found = await queries.newest_of_run(lab.store.reader, lab.store.run, RARE, EVENTS_MOST)
    numbers = {id(stamped): seq for seq, stamped in found}
    terms = terms_of(lab.home.file.cluster.protocol)
    picture = lab.fabric.picture
    processes = {COORDINATION, CONTROL, CLIENT, *picture.servers, *picture.nodes}

    def render(stamped: Stamped) -> dict[str, Any]:
        return named(stamped, numbers[id(stamped)], terms)

    return newest_changes([stamped for _, stamped in found], render, processes)


def newest_changes(events: list[Stamped], render: Render, processes: Collection[str]) -> dict[str, Any]:
    """The newest changes of all, and the newest of each node. `events` come in order; `processes` are those that report events, other names are of
    clients' sessions."""
    causes = Causes(events)
    changes = [stamped for stamped in events if isinstance(stamped.event, CHANGES)]
    last = {path_of(stamped): place for place, stamped in enumerate(changes)}
    first = len(changes) - CHANGES_MOST
    shown = [
        stamped for place, stamped in enumerate(changes) if place >= first or last[path_of(stamped)] == place
    ][::-1]
    return {
        "changes": [change(stamped, causes, render, processes) for stamped in shown],
        "left_out": len(changes) - len(shown),
    }


def change(stamped: Stamped, causes: Causes, render: Render, processes: Collection[str]) -> dict[str, Any]:
    before = causes.back(stamped)[:-1]
    shown = before if len(before) <= CAUSES_MOST else [before[0], *before[1 - CAUSES_MOST :]]
    return {
        "event": render(stamped),
        "path": path_of(stamped),
        "causes": [render(each) for each in shown],
        "skipped": len(before) - len(shown),
        "beyond": unkept(before[0] if before else stamped, processes),
    }


def path_of(stamped: Stamped) -> str:
    event = stamped.event
    return f"{ROOT}{event.group}/lock" if isinstance(event, LockRemoved) else node_of(stamped)


def unkept(first: Stamped, processes: Collection[str]) -> str:
    """What an event without a known cause names as its cause."""
    name, number = cause = stamped_cause(first)
    if cause == UNKNOWN:
        return ""
    if name.startswith("/"):
        return f"a change of {name}"
    return f"event {number} of {name}" if name in processes else f"call {number} of {name}"
