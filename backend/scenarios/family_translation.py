"""Runs a scenario on another family: the same workload and faults, with expectations in that family's roles. A scenario that makes no sense
there gets one line with the reason."""

from __future__ import annotations

import re
from collections.abc import Iterator

from backend.errors import LabError, Malformed
from backend.scenarios.durations import nanoseconds
from backend.scenarios.model import ExpectPart, Scenario
from backend.scenarios.reader import targets
from backend.scenarios.translation import NODES, SERVER, translated
from nodes.families import Family, family_named
from nodes.faults.table import AWAY, BY_NAME, VERBS

UPGRADE = re.compile(r"^step upgrade (\d+) of ")
FOLLOWER = re.compile(r"^(?:a )?standbys?\b")
MANY = re.compile(r"^(\d+) standbys? in ")
LEADER = re.compile(r"^(?:active of |time server$|mds\d+$)")
TAKEN = "it takes the server away, and no server takes over"
BACK = tuple(verb.verb for verb in VERBS if verb.mends)


def on_family(scenario: Scenario, protocol: str) -> Scenario:
    """Translates a scenario to another family. Raises Malformed with one line that says why the family cannot run it."""
    if protocol == scenario.cluster.protocol:
        return scenario
    try:
        found = translated(scenario, protocol)
    except ValueError as error:
        raise Malformed(str(error)) from None
    reason = next(reasons(found, scenario.cluster.protocol), "")
    if reason:
        raise Malformed(f"{scenario.name!r} is not for {protocol}: {reason}")
    return found


def reasons(scenario: Scenario, written_for: str) -> Iterator[str]:
    """Reasons why a scenario, translated from the family that it was written for, makes no sense on another one, the plainest first."""
    cluster = scenario.cluster
    protocol = cluster.protocol
    own, family = family_named(written_for), family_named(protocol)
    if cluster.groups > family.groups_max:
        yield f"it has {cluster.groups} groups, {protocol} runs {family.groups_max}: {family.no_more_groups}"
    alike = (family.replication, family.journal_sync) == (own.replication, own.journal_sync)
    alike = alike and cluster.variant != "paper"
    if not alike and any(expect.broken for expect in expectations(scenario)):
        yield f"it shows the writes that {written_for} loses"
    if not family.checkpoints:
        yield from of_checkpoints(scenario, protocol)
    if family.journal_nodes and any((step.when or "").startswith("junior ") for step in scenario.steps):
        yield f"it waits for a junior, {protocol} has none"
    yield from impossible(scenario, protocol)
    if not family.standbys_max:
        yield from of_standbys(scenario)


def impossible(scenario: Scenario, protocol: str) -> Iterator[str]:
    """Parts of the scenario that the family cannot run, whatever the expectations are. Raises ValueError for an unknown family."""
    family = family_named(protocol)
    foreign = [hole for hole in scenario.cluster.holes if hole not in family.holes]
    if foreign:
        yield f"it opens {', '.join(foreign)}, {protocol} has no such hole"
    yield from of_verbs(scenario, protocol, family)
    for step in scenario.steps:
        if (found := UPGRADE.match(step.when or "")) and int(found[1]) > family.upgrade_steps:
            yield f"its takeover has no step upgrade {found[1]}"
    for name in names(scenario):
        if name not in NODES:
            continue
        kind, _ = NODES[name]
        if name not in kind.named(family, scenario.cluster.counts()[kind.name]):
            yield f"it targets {name}, {protocol} has no such node"
        elif kind.needed(family) == 1:
            yield f"it targets {name}, without which no server answers"


def expectations(scenario: Scenario) -> list[ExpectPart]:
    return [*(step.expect for step in scenario.steps if step.expect is not None), scenario.expect]


def names(scenario: Scenario) -> list[str]:
    return [name for step in scenario.steps for name in targets(step)]


def of_checkpoints(scenario: Scenario, protocol: str) -> Iterator[str]:
    marks = any(step.mark or step.recover for step in scenario.steps)
    if marks or any(each.checkpoints or each.rolled_back for each in expectations(scenario)):
        yield f"it rolls back to a checkpoint, {family_named(protocol).cannot_roll_back}"


def of_verbs(scenario: Scenario, protocol: str, family: Family) -> Iterator[str]:
    for verb in (step.fault for step in scenario.steps if step.fault is not None):
        locked = BY_NAME[verb].locked
        if locked is not None and locked != family.locked:
            yield f"{verb} is for families {'with' if locked else 'without'} a lock"


def of_standbys(scenario: Scenario) -> Iterator[str]:
    """Reasons for a family with one server in each group: faults on standbys, and waits that are longer than the scenario allows."""
    if any(
        MANY.match(step.when or "") or any(beyond(name, scenario.cluster.groups) for name in targets(step))
        for step in scenario.steps
    ):
        yield "it needs standbys"
    allowed_ns = nanoseconds(scenario.expect.longest_outage or "1000m")
    now_ns, away_ns = 0, -1
    for step in scenario.steps:
        now_ns = nanoseconds(step.at) if step.at else now_ns + nanoseconds(step.after or "0ns")
        if step.fault in AWAY and any(map(LEADER.match, targets(step))):
            if step.span is None:
                away_ns = now_ns
            elif nanoseconds(step.span) >= allowed_ns:
                yield TAKEN
        elif step.fault in BACK and away_ns >= 0:
            if now_ns - away_ns >= allowed_ns:
                yield TAKEN
            away_ns = -1
        expect = step.expect or ExpectPart()
        waits = expect.serving or expect.roles or expect.checkpoints or step.mark or step.recover
        if away_ns >= 0 and waits:
            yield TAKEN
    if away_ns >= 0:
        yield TAKEN


def beyond(target: str, servers: int) -> bool:
    """Whether a target names a server that a group of one server does not have."""
    found = SERVER.match(target)
    return bool(FOLLOWER.match(target)) or (found is not None and int(found[1]) > servers)


def refusal(scenario: Scenario, protocol: str) -> str:
    """One line with the reason for the refusal; empty when the family can run the scenario."""
    try:
        on_family(scenario, protocol)
    except LabError as error:
        return error.message
    return ""
