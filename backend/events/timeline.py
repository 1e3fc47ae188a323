"""Requests, latency, role bands and faults over a span of a run."""

from __future__ import annotations

from typing import Any

from backend.events.failovers import completed
from backend.store import queries
from backend.store.latencies import LatencyHistogram
from backend.store.queries import RunRow
from backend.store.readers import ReadConnections
from backend.store.tiers import tier_of
from nodes.faults.table import lasts
from nodes.roles import LETTERS
from nodes.trace.checkpoints import BarrierWritten
from nodes.trace.events import Configured, FaultEnded, FaultInjected, Placed, Stamped

MEMBER = "member"
JOINING = "joining"
KINDS = ("Placed", "Configured", "FaultInjected", "FaultEnded", "BarrierWritten")
"""Events from which the bands, faults, views and barriers follow."""


async def calls(
    reader: ReadConnections, run: RunRow, from_ns: int, to_ns: int, last_ns: int, buckets: int
) -> dict[str, Any]:
    """Calls in at most `buckets` buckets, each as wide as some of the narrowest ones that are still kept. Raises Malformed."""
    wanted = -(-(to_ns - from_ns) // buckets)
    kept = tier_of(from_ns, to_ns, last_ns, wanted).width_ns
    width = kept * max(1, -(-wanted // kept))
    from_ns -= from_ns % width
    count = max(1, -(-(to_ns - from_ns) // width))
    ok, failed = [0] * count, [0] * count
    latencies = [LatencyHistogram() for _ in range(count)]
    for at_ns, more_ok, more_failed, more in await queries.buckets(reader, run.run, from_ns, to_ns, kept):
        place = (at_ns - from_ns) // width
        ok[place] += more_ok
        failed[place] += more_failed
        latencies[place].merge(more)
    return {
        "from_ns": from_ns,
        "to_ns": to_ns,
        "bucket_ns": width,
        "ok": ok,
        "failed": failed,
        "p50_ms": [each.quantile_ms(0.5) for each in latencies],
        "p99_ms": [each.quantile_ms(0.99) for each in latencies],
    }


def bands(
    found: list[tuple[int, Stamped]], homes: dict[str, str], from_ns: int, to_ns: int
) -> list[dict[str, Any]]:
    """Spans of each server's letter in the global view, group by group; `homes` names the groups.

    A member that the present view of its group leaves out has the letter of a joining server.
    """
    homes = dict(homes)
    changes: dict[str, list[tuple[int, str]]] = {server: [] for server in homes}
    states: dict[str, str] = {}
    views: dict[str, list[str]] = {}
    for _, stamped in found:
        event = stamped.event
        if isinstance(event, Placed):
            homes.setdefault(event.server, event.group)
            states[event.server] = event.state
            changed = [event.server]
        elif isinstance(event, Configured):
            views[event.group] = event.members
            changed = [server for server, state in states.items() if homes[server] == event.group]
            changed = [server for server in changed if states[server] == MEMBER]
        else:
            continue
        for server in changed:
            state = states[server]
            view = views.get(homes[server])
            outside = state == MEMBER and view is not None and server not in view
            letter = LETTERS[JOINING if outside else state]
            changes.setdefault(server, []).append((stamped.at_ns, letter))
    groups = list(dict.fromkeys(homes.values()))
    return [
        {"server": server, "group": homes[server], "spans": spans(changes[server], from_ns, to_ns)}
        for server in sorted(changes, key=lambda server: groups.index(homes[server]))
    ]


def spans(changes: list[tuple[int, str]], from_ns: int, to_ns: int) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    edges = [(from_ns, "-"), *changes]
    for (start, letter), (end, _) in zip(edges, [*edges[1:], (to_ns, "")], strict=True):
        start, end = max(start, from_ns), min(end, to_ns)
        if start >= end:
            continue
        if made and made[-1]["letter"] == letter and made[-1]["to_ns"] == start:
            made[-1]["to_ns"] = end
        else:
            made.append({"from_ns": start, "to_ns": end, "letter": letter})
    return made


def faults(found: list[tuple[int, Stamped]], from_ns: int, to_ns: int) -> list[dict[str, Any]]:
    """Faults in force in the span; a fault that takes effect at once ends when it began."""
    reported: dict[int, dict[str, Any]] = {}
    for _, stamped in found:
        event = stamped.event
        if isinstance(event, FaultInjected):
            ended = None if lasts(event.verb) else stamped.at_ns
            reported[event.fault] = {
                "fault": event.fault,
                "verb": event.verb,
                "targets": event.targets,
                "at_ns": stamped.at_ns,
                "ended_ns": ended,
            }
        elif isinstance(event, FaultEnded) and event.fault in reported:
            reported[event.fault]["ended_ns"] = stamped.at_ns
    return [
        fault
        for fault in reported.values()
        if fault["at_ns"] < to_ns and (fault["ended_ns"] or to_ns) >= from_ns
    ]


def barriers(found: list[tuple[int, Stamped]], from_ns: int, to_ns: int) -> list[dict[str, Any]]:
    """Checkpoints whose barriers were written in the span, with the time of the first barrier."""
    reported: dict[str, dict[str, Any]] = {}
    for _, stamped in found:
        event = stamped.event
        if isinstance(event, BarrierWritten) and from_ns <= stamped.at_ns < to_ns:
            known = reported.setdefault(
                event.name, {"name": event.name, "at_ns": stamped.at_ns, "groups": []}
            )
            known["groups"].append(event.group)
    return list(reported.values())


def views(found: list[tuple[int, Stamped]], from_ns: int, to_ns: int) -> list[dict[str, Any]]:
    """Views of each group in the span: the one at its start, and those installed within it."""
    reported: list[dict[str, Any]] = []
    before: dict[str, dict[str, Any]] = {}
    for _, stamped in found:
        event = stamped.event
        if not isinstance(event, Configured) or stamped.at_ns >= to_ns:
            continue
        known = {
            "group": event.group,
            "number": event.number,
            "members": event.members,
            "at_ns": stamped.at_ns,
        }
        if stamped.at_ns < from_ns:
            before[event.group] = known
        else:
            reported.append(known)
    return [*before.values(), *reported]


async def timeline(
    reader: ReadConnections,
    run: RunRow,
    homes: dict[str, str],
    from_ns: int,
    to_ns: int,
    last_ns: int,
    buckets: int,
) -> dict[str, Any]:
    """`last_ns` is the end of the run. Raises Malformed for too long a span."""
    reported = await calls(reader, run, from_ns, to_ns, last_ns, buckets)
    found = await queries.rare(reader, run.run, KINDS)
    reported["bands"] = bands(found, homes, from_ns, to_ns)
    reported["faults"] = faults(found, from_ns, to_ns)
    reported["views"] = views(found, from_ns, to_ns)
    reported["barriers"] = barriers(found, from_ns, to_ns)
    splits = completed(await queries.failovers(reader, run.run, from_ns, to_ns))
    reported["failovers"] = splits
    return reported
