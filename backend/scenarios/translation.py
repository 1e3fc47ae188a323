"""A scenario's cluster, steps and expectations in the terms of another family."""

from __future__ import annotations

import re

from msgspec.structs import replace

from backend.scenarios.model import ClusterPart, ExpectPart, Scenario, StepPart
from backend.scenarios.reader import targets
from nodes.families import FAMILIES, Family, family_named
from nodes.kinds import KINDS
from nodes.roles import LETTERS

SERVER = re.compile(r"^mds(\d+)$")
NEEDED = [kind for kind in KINDS.values() if any(map(kind.needed, FAMILIES.values()))]
"""Kinds of node that some family cannot serve without."""
NODES = {
    name: (kind, place)
    for kind in NEEDED
    for family in FAMILIES.values()
    for place, name in enumerate(kind.named(family, kind.most))
}
"""Their nodes in all families, each with its place among them."""
OF_ONE_FAMILY = dict.fromkeys(["quorums", *(kind.table for kind in NEEDED)])
"""Keys of a cluster that another family has by itself."""


def translated(scenario: Scenario, protocol: str) -> Scenario:
    """The scenario on a cluster of another family. Raises ValueError for an unknown family."""
    family = family_named(protocol)
    standbys = standbys_of(scenario, family)
    cluster = replace(scenario.cluster, protocol=protocol, standbys=standbys, **OF_ONE_FAMILY)
    absent = absent_steps(scenario, cluster, family)
    return replace(
        scenario,
        cluster=cluster,
        steps=[
            step.left_out() if place in absent else step_of(step, cluster, family)
            for place, step in enumerate(scenario.steps)
        ],
        expect=expectation_of(scenario.expect, cluster, family),
    )


def standbys_of(scenario: Scenario, family: Family) -> int:
    """As many standbys as the scenario has; where a majority must stay, so many more that one outlives the scenario's failures."""
    standbys = scenario.cluster.standbys
    if family.majority:
        expected = [*(step.expect for step in scenario.steps), scenario.expect]
        rows = [each.roles for each in expected if each is not None and each.roles]
        standbys = max([standbys, *(2 * row.count("-") for row in rows)])
    return min(standbys, family.standbys_max)


def absent_steps(scenario: Scenario, cluster: ClusterPart, family: Family) -> set[int]:
    """Places of the steps whose fault hits every server, one step each, for the servers that groups of one server do not have."""
    if family.standbys_max:
        return set()
    numbers = {
        place: int(found[1])
        for place, step in enumerate(scenario.steps)
        if step.fault is not None and isinstance(step.target, str) and (found := SERVER.match(step.target))
    }
    present = {scenario.steps[place].fault for place, number in numbers.items() if number <= cluster.groups}
    return {
        place
        for place, number in numbers.items()
        if number > cluster.groups and scenario.steps[place].fault in present
    }


def step_of(step: StepPart, cluster: ClusterPart, family: Family) -> StepPart:
    """A step with the family's names of nodes and its roles. Where members agree without a lock, losing the lock is a change of the view."""
    if step.expect is not None:
        return replace(step, expect=expectation_of(step.expect, cluster, family))
    if step.fault is None:
        return step
    named = [node_of(name, family) for name in targets(step)]
    return replace(
        step,
        fault=family.unseats if step.fault == "take_lock" else step.fault,
        target=named[0] if isinstance(step.target, str) else named or None,
    )


def node_of(target: str, family: Family) -> str:
    """The family's node in the same place of its kind, if it has one."""
    if target not in NODES:
        return target
    kind, place = NODES[target]
    names = kind.named(family, kind.needed(family))
    return names[place] if place < len(names) else target


def expectation_of(expect: ExpectPart, cluster: ClusterPart, family: Family) -> ExpectPart:
    """An expectation with the roles of the family. Rows of a paper's table apply to its own family only. A family without guarantees is not held
    to any."""
    roles = None if expect.roles is None else roles_of(family, expect.roles, cluster.standbys)
    invariants = expect.invariants if family.promises else None
    return replace(expect, roles=roles, rows=None, invariants=invariants)


def roles_of(family: Family, row: str, standbys: int) -> str:
    """Translates a row of active and standbys to the roles of the family. Servers beyond the row are in step; a single server keeps the first
    letter."""
    leads = LETTERS[family.leads]
    follows = leads if family.leads == "member" else "S"
    row = row.replace(" ", "").translate(str.maketrans("AS", leads + follows))
    return row.ljust(1 + standbys, follows)[: 1 + standbys]
