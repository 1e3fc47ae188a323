"""A trial's plan as steps that a person can read."""

from __future__ import annotations

from typing import Any

import msgspec

from nodes.explore.files import sparse
from nodes.explore.plan import Caller, Fault, Plan
from nodes.sim.triggers import Trigger

CALLS_SHOWN = 30
MESSAGES = ("sent", "delivered")
"""Kinds of places that are about a message."""


class ScheduleStep(msgspec.Struct, frozen=True):
    when: str
    what: str


class Schedule(msgspec.Struct, frozen=True):
    cluster: list[str]
    """The cluster, a line for each of its parts."""
    clients: list[ScheduleStep]
    faults: list[ScheduleStep]


def schedule_of(plan: Plan) -> Schedule:
    faults = sorted(plan.faults, key=lambda fault: fault.at_ms)
    return Schedule(
        cluster_lines(plan),
        [ScheduleStep(f"{caller.name}, from {seconds(caller.start_ms)}", calls_of(caller)) for caller in plan.callers],
        [ScheduleStep(moment_of(fault), deed_of(fault)) for fault in faults],
    )  # fmt: skip


def seconds(at_ms: int) -> str:
    return f"{at_ms / 1000:g} s"


def cluster_lines(plan: Plan) -> list[str]:
    cluster = plan.cluster
    lines = [f"{group.name}: {', '.join(group.members)}" for group in cluster.groups]
    if cluster.journal.nodes:
        lines.append(f"shared journal: {', '.join(cluster.journal.nodes)}")
    if cluster.data.nodes:
        lines.append(f"data nodes: {', '.join(cluster.data.nodes)}")
    lines.append(
        f"sessions last {seconds(cluster.timing.session_timeout_ms)}, the load {seconds(plan.span_ms)}"
    )
    if plan.unsettled_ms is not None:
        lines.append(
            f"the load begins {seconds(plan.unsettled_ms)} after the servers start, though no group may have a leader yet"
        )
    weather = ", ".join(sparse(plan.conditions)).replace("_", " ")
    return [*lines, f"unusual conditions: {weather}"] if weather else lines


def calls_of(caller: Caller) -> str:
    shown, left = caller.calls[:CALLS_SHOWN], len(caller.calls) - CALLS_SHOWN
    end = f", and {left} more calls" if left > 0 else ""
    died = f"; it is killed at {seconds(caller.dies_ms)}" if caller.dies_ms else ""
    return f"{', '.join(shown)}{end}{died}"


def moment_of(fault: Fault) -> str:
    if fault.on is None:
        return seconds(fault.at_ms)
    since = f", counted from {seconds(fault.at_ms)}" if fault.at_ms else ""
    return f"{fault.on.when} {place_of(fault.on)}{since}"


def place_of(trigger: Trigger) -> str:
    server, peer = trigger.server, trigger.peer or "any server"
    which = f"the {ordinal(trigger.ordinal)} {'message' if trigger.kind in MESSAGES else trigger.kind}"
    of, named = (f" of {trigger.name}", f" {trigger.name}") if trigger.name else ("", "")
    match trigger.kind:
        case "sync":
            return f"{which}{of} at {server}"
        case "write":
            return f"{which}{of} to coordination by {server}"
        case "sent":
            return f"{which}{named} leaves {server} for {peer}"
        case "delivered":
            return f"{which}{named} from {server} is delivered at {peer}"
        case _:
            return f"{which}{named} of {server}"


def ordinal(number: int) -> str:
    ends = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{'th' if 10 < number % 100 < 20 else ends.get(number % 10, 'th')}"


def deed_of(fault: Fault) -> str:
    what = " ".join([fault.verb.replace("_", " "), ", ".join(fault.targets)]).strip()
    options = ", ".join(
        option_of(key.replace("_", " "), value) for key, value in fault.options.items() if value is not False
    )
    lasts = f" for {seconds(fault.for_ms)}" if fault.for_ms else ""
    return f"{what}{f' ({options})' if options else ''}{lasts}"


def option_of(name: str, value: Any) -> str:
    if value is True:
        return name
    return f"{name} {', '.join(map(str, value)) if isinstance(value, list) else value}"
