"""A scenario on another family than its own: the same workload, faults and expectations in that family's words, or one line that says
why the file makes no sense there."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from backend.errors import LabError, Malformed
from backend.scenarios.model import ExpectPart, Scenario
from backend.scenarios.reading import targets
from nodes.families import Family, family_named
from nodes.faults.table import AWAY, BY_NAME, VERBS
from nodes.roles import LETTERS

UPGRADE = re.compile(r"^step upgrade (\d+) of ")
FOLLOWER = re.compile(r"^(?:a )?standbys?\b")
MANY = re.compile(r"^(\d+) standbys? in ")
LEADER = re.compile(r"^(?:active of |time server$|mds\d+$)")
NODE = re.compile(r"^(?:jn|bookie)\d+$")
SERVER = re.compile(r"^mds(\d+)$")
OF_IMAGES = re.compile(r"^(?:Image|Packet|Repairing|Replicas)")
BACK = tuple(verb.verb for verb in VERBS if verb.mends)


def on_family(scenario: Scenario, protocol: str) -> Scenario:
    """Raises Malformed in one line that says why it cannot be played there."""
    if protocol == scenario.cluster.protocol:
        return scenario
    try:
        family = family_named(protocol)
    except ValueError as error:
        raise Malformed(str(error)) from None
    reason = next(reasons(scenario, protocol, family), "")
    if reason:
        raise Malformed(f"{scenario.name!r} is not for {protocol}: {reason}")
    standbys = min(scenario.cluster.standbys, family.standbys_max)
    return msgspec.structs.replace(
        scenario,
        cluster=msgspec.structs.replace(
            scenario.cluster, protocol=protocol, standbys=standbys, journal_nodes=None, quorums=None
        ),
        steps=[
            msgspec.structs.replace(step, expect=None if step.expect is None else said(step.expect, family))
            for step in scenario.steps
        ],
        expect=said(scenario.expect, family),
    )


def said(expect: ExpectPart, family: Family) -> ExpectPart:
    """In the family's letters. The rows of a paper's table are its own family's; who promises nothing is not held to it."""
    letters = None if expect.letters is None else letters_of(family, expect.letters)
    invariants = expect.invariants if family.promises else None
    return msgspec.structs.replace(expect, letters=letters, rows=None, invariants=invariants)


def letters_of(family: Family, row: str) -> str:
    """A row of active and standbys, in the letters of the family; a single server's row is its first letter."""
    row = row.replace(" ", "")
    leads = LETTERS[family.leads]
    follows = leads if family.leads == "member" else "S"
    row = row.translate(str.maketrans("AS", leads + follows))
    return row if family.standbys_max else row[:1]


def reasons(scenario: Scenario, protocol: str, family: Family) -> Iterator[str]:
    """Why it makes no sense on a family, the plainest first."""
    cluster = scenario.cluster
    if cluster.groups > family.groups_max:
        yield f"it has {cluster.groups} groups, {protocol} runs {family.groups_max}"
    own = family_named(cluster.protocol)
    alike = (family.replication, family.journal_sync) == (own.replication, own.journal_sync)
    alike = alike and cluster.variant != "paper"
    if not alike and any(expect.broken for expect in expectations(scenario)):
        yield f"it shows what {cluster.protocol} loses"
    if not family.checkpoints:
        yield from of_checkpoints(scenario, protocol)
    if not family.images:
        yield from of_images(scenario, protocol)
    if family.journal_nodes and any((step.when or "").startswith("junior ") for step in scenario.steps):
        yield f"it waits for a junior, {protocol} has none"
    yield from impossible(scenario, protocol)
    if not family.standbys_max:
        yield from of_standbys(scenario)
    if family.majority:
        yield from of_majority(scenario)


def impossible(scenario: Scenario, protocol: str) -> Iterator[str]:
    """What cannot even be done there, whatever is expected of it. Raises ValueError for an unknown family."""
    family = family_named(protocol)
    foreign = [hole for hole in scenario.cluster.holes if hole not in family.holes]
    if foreign:
        yield f"it opens {', '.join(foreign)}, {protocol} has no such hole"
    yield from of_verbs(scenario, protocol, family)
    for step in scenario.steps:
        if (found := UPGRADE.match(step.when or "")) and int(found[1]) > family.upgrade_steps:
            yield f"its takeover has no step upgrade {found[1]}"
    for name in names(scenario):
        if NODE.match(name) and name not in family.journal_names(own_nodes(scenario, protocol)):
            yield f"it strikes {name}, {protocol} has no such node"
        elif NODE.match(name) and family.journal_nodes == 1:
            yield f"it strikes {name}, without which nothing is answered"


def own_nodes(scenario: Scenario, protocol: str) -> int | None:
    """How many journal nodes the file asks for; on another family it has as many as that has."""
    return scenario.cluster.journal_nodes if protocol == scenario.cluster.protocol else None


def expectations(scenario: Scenario) -> list[ExpectPart]:
    return [*(step.expect for step in scenario.steps if step.expect is not None), scenario.expect]


def names(scenario: Scenario) -> list[str]:
    return [name for step in scenario.steps for name in targets(step)]


def of_checkpoints(scenario: Scenario, protocol: str) -> Iterator[str]:
    marks = any(step.mark or step.recover for step in scenario.steps)
    if marks or any(each.checkpoints or each.taken_back for each in expectations(scenario)):
        yield f"it marks checkpoints, {protocol} has none"


def of_images(scenario: Scenario, protocol: str) -> Iterator[str]:
    told = [kind for each in expectations(scenario) for kind in each.told]
    if any(OF_IMAGES.match(kind) for kind in told) or any(
        " image " in (s.when or "") for s in scenario.steps
    ):
        yield f"it is about images, {protocol} writes none"


def of_verbs(scenario: Scenario, protocol: str, family: Family) -> Iterator[str]:
    for verb in (step.fault for step in scenario.steps if step.fault is not None):
        locked = BY_NAME[verb].locked
        if locked is not None and locked != family.locked:
            yield f"{verb} is for families {'with' if locked else 'without'} a lock"


def of_standbys(scenario: Scenario) -> Iterator[str]:
    """For a family whose groups are one server each: whom the file strikes, and whether it waits for a takeover."""
    away = False
    for step in scenario.steps:
        struck = targets(step)
        if MANY.match(step.when or "") or any(beyond(name, scenario.cluster.groups) for name in struck):
            yield "it needs standbys"
        away = (away or (step.fault in AWAY and any(map(LEADER.match, struck)))) and step.fault not in BACK
        expect = step.expect or ExpectPart()
        waits = expect.serving or expect.letters or expect.checkpoints or step.mark or step.recover
        if away and (waits or scenario.expect.longest_outage):
            yield "it takes the server away, and nobody takes over"


def beyond(target: str, servers: int) -> bool:
    """Whether there is no such server where each group has one."""
    found = SERVER.match(target)
    return bool(FOLLOWER.match(target)) or (found is not None and int(found[1]) > servers)


def of_majority(scenario: Scenario) -> Iterator[str]:
    rows = [each.letters for each in expectations(scenario) if each.letters]
    for row in (row.replace(" ", "") for row in rows):
        needed = len(row) // 2 + 1
        if len(row) - row.count("-") < needed:
            yield f"it expects service from {len(row) - row.count('-')} of {len(row)} servers, {needed} are needed"


def refusal(scenario: Scenario, protocol: str) -> str:
    """The line; empty for what can be played."""
    try:
        on_family(scenario, protocol)
    except LabError as error:
        return error.message
    return ""
