"""Some thousand plans together draw every verb, operation, knob, size and kind of message, each often enough to meet the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache

from nodes.config import Knobs
from nodes.explore.calls import CONTENT, ONE_PATH, OTHERS
from nodes.explore.draw import SAFE, draw
from nodes.explore.draw_cluster import JOURNAL_NODES
from nodes.explore.draw_faults import DRAWN, NEEDS, able
from nodes.explore.plan import Plan
from nodes.explore.progress import every_message
from nodes.families import FAMILIES
from nodes.sim.ensemble import COORDINATION, MEMBERS

OPERATIONS = {*ONE_PATH, *OTHERS, *CONTENT}


@cache
def plans() -> list[Plan]:
    return [draw(seed) for seed in range(1, 4_001)]


def of(protocols: Iterable[str]) -> list[Plan]:
    names = set(protocols)
    return [plan for plan in plans() if plan.cluster.protocol in names]


def share(plans_: list[Plan], verb: str) -> float:
    return sum(any(fault.verb == verb for fault in plan.faults) for plan in plans_) / len(plans_)


def test_every_verb_is_in_one_of_a_hundred_plans_of_the_families_that_can_use_it() -> None:
    rare = {}
    for verb in DRAWN:
        able_ = [name for name in SAFE if NEEDS.get(verb, able)(FAMILIES[name])]
        if verb == "force":  # A server alone has no others to be forced without.
            able_ = [name for name in able_ if FAMILIES[name].standbys]
        found = share(of(able_), verb)
        if found < 0.01:
            rare[verb] = found
    assert not rare


def test_the_coordination_service_and_single_servers_of_its_ensemble_crash() -> None:
    crashed = [{name for fault in plan.faults if fault.verb == "crash" for name in fault.targets} for plan in plans()]  # fmt: skip
    assert sum(COORDINATION in names for names in crashed) > 0.005 * len(crashed)
    assert sum(bool({*MEMBERS} & names) for names in crashed) > 0.005 * len(crashed)


def test_a_quarter_of_the_faults_is_tied_to_progress() -> None:
    faults = [fault for plan in plans() for fault in plan.faults]
    assert sum(fault.on is not None for fault in faults) >= 0.25 * len(faults)


def test_calls_are_mixed() -> None:
    calls = Counter(line.partition(" ")[0] for plan in plans() for caller in plan.callers for line in caller.calls)  # fmt: skip
    assert not {operation for operation in OPERATIONS if calls[operation] < 0.005 * calls.total()}
    assert calls["create"] < 0.5 * calls.total()


def test_there_are_at_least_two_clients() -> None:
    assert all(len(plan.callers) >= 2 for plan in plans())


def test_every_knob_is_turned() -> None:
    default = Knobs()
    for name in Knobs.__struct_fields__:
        turned = sum(getattr(plan.cluster.knobs, name) != getattr(default, name) for plan in plans())
        assert turned > 0.1 * len(plans()), name


def test_every_size_is_drawn() -> None:
    several = of(name for name in SAFE if FAMILIES[name].standbys)
    servers = Counter(len(plan.cluster.groups[0].members) for plan in several)
    assert all(servers[size] > 0.01 * len(several) for size in range(1, 7)), servers
    grouped = of(name for name in SAFE if FAMILIES[name].groups_max > 1)
    groups = Counter(len(plan.cluster.groups) for plan in grouped)
    assert all(groups[count] > 0.02 * len(grouped) for count in range(1, 5)), groups
    for protocol in ("qjm", "hadoop-ha", "bookkeeper"):
        nodes = Counter(len(plan.cluster.journal.nodes) for plan in of([protocol]))
        assert all(nodes[count] > 0.05 * nodes.total() for count in JOURNAL_NODES), (protocol, nodes)


def test_every_kind_of_message_is_held_or_tied_to() -> None:
    found = {fault.on.name for plan in plans() for fault in plan.faults if fault.on is not None}
    found |= {fault.options.get("kind", "") for plan in plans() for fault in plan.faults}
    known = {name for plan in plans() for name in every_message(plan.cluster)}
    assert len(known - found) < 0.05 * len(known), known - found
