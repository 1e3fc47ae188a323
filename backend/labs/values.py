"""The values that predictions ask for and bounds refer to, each computed from the history of a run."""

from __future__ import annotations

from collections.abc import Callable

from backend.labs.history import FaultSeen, RunHistory
from backend.labs.model import Answer, ValuePart
from backend.scenarios.conditions import EVENTS
from nodes.config import SECOND
from nodes.faults.table import AWAY, BY_NAME
from nodes.invariants.registry import NAMES_OF_ALL
from nodes.roles import LEADING


class MissingValue(Exception):
    """The run has nothing that the value could be computed from. The text says what is missing."""


def fault_of(history: RunHistory, value: ValuePart) -> FaultSeen:
    """The first fault of that verb, or the first one that took a leading server away. Raises MissingValue."""
    for fault in history.noted.faults:
        if value.verb:
            if fault.verb == value.verb:
                return fault
        elif fault.verb in AWAY and any(role in LEADING for role in fault.roles.values()):
            return fault
    raise MissingValue(f"no {value.verb or 'fault of the active'} happened")


def takeover_s(history: RunHistory, value: ValuePart) -> float:
    """Seconds from the fault until a server of the group begins to serve."""
    fault = fault_of(history, value)
    for service in history.noted.services:
        if service.group == value.group and service.at_ns > fault.at_ns:
            return (service.at_ns - fault.at_ns) / SECOND
    raise MissingValue(f"no server of {value.group} began to serve after the fault")


def session_s(history: RunHistory, value: ValuePart) -> float:
    """Seconds from the fault until the session of one of its targets ended."""
    fault = fault_of(history, value)
    for at_ns, server in history.noted.sessions_ended:
        if server in fault.roles and at_ns >= fault.at_ns:
            return (at_ns - fault.at_ns) / SECOND
    raise MissingValue("no session of a target ended after the fault")


def outage_s(history: RunHistory, value: ValuePart) -> float:
    return history.outages.longest_ns / SECOND


def failed_calls(history: RunHistory, value: ValuePart) -> int:
    return history.outages.failed


def reported(history: RunHistory, value: ValuePart) -> int:
    return history.noted.counts.get(value.event, 0)


def services(history: RunHistory, value: ValuePart) -> int:
    """How often a server of the group began to serve."""
    return sum(service.group == value.group for service in history.noted.services)


def actives(history: RunHistory, value: ValuePart) -> int:
    """How many different servers began to serve the group since the workload began."""
    return len({service.server for service in history.noted.services if service.group == value.group})


def standbys(history: RunHistory, value: ValuePart) -> int:
    return history.situation.count("standby", value.group)


def juniors(history: RunHistory, value: ValuePart) -> int:
    return history.situation.count("junior", value.group)


def serving(history: RunHistory, value: ValuePart) -> str:
    """`yes` when the group has an active that serves at the end, else `no`."""
    return yes_or_no(history.situation.serves(value.group))


def answering(history: RunHistory, value: ValuePart) -> str:
    """`yes` when some call succeeded in the last five seconds of the run, else `no`."""
    return yes_or_no(history.ended_ns - history.noted.last_success_ns < 5 * SECOND)


def broken(history: RunHistory, value: ValuePart) -> str:
    """`yes` when the invariant was violated, else `no`."""
    return yes_or_no(value.invariant in history.broken)


def target_role(history: RunHistory, value: ValuePart) -> str:
    """Role at the end of the first target of the fault; `down` without one."""
    fault = fault_of(history, value)
    name = next(iter(fault.roles))
    servers = history.situation.picture.servers
    if name not in servers:
        raise MissingValue(f"{name} is not a metadata server")
    return servers[name].role or "down"


def quarantined(history: RunHistory, value: ValuePart) -> int:
    """Client operations that the last recovery quarantined."""
    return history.situation.quarantined


def yes_or_no(true: bool) -> str:
    return "yes" if true else "no"


VALUES: dict[str, Callable[[RunHistory, ValuePart], Answer]] = {
    each.__name__: each
    for each in (
        takeover_s, session_s, outage_s, failed_calls, reported, services, actives, standbys, juniors, serving, answering, broken, target_role,
        quarantined,
    )
}  # fmt: skip
"""Values by name, as the key `name` gives it."""


def wrong(value: ValuePart, groups: list[str]) -> str:
    """One line that says what is wrong with a value; empty when nothing is."""
    if value.name not in VALUES:
        return f"{value.name[:40]!r} is not a value; there are {', '.join(VALUES)}"
    if value.group not in groups:
        return f"no group is called {value.group[:40]!r}; there are {', '.join(groups)}"
    if value.name == "reported" and value.event not in EVENTS:
        return f"{value.event[:40]!r} is not an event; there are {', '.join(EVENTS)}"
    if value.verb and value.verb not in BY_NAME:
        return f"{value.verb[:40]!r} is not a fault; there are {', '.join(BY_NAME)}"
    if value.name == "broken" and value.invariant not in NAMES_OF_ALL:
        return f"{value.invariant[:40]!r} is not an invariant; there are {', '.join(NAMES_OF_ALL)}"
    return ""
