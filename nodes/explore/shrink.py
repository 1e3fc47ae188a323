"""Shrinks a failing plan to the smallest one that fails in the same way: leaves out, shortens, simplifies, until nothing more can be removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from msgspec.structs import fields, replace

from nodes.config import ClusterConfig, DataConfig, GroupConfig, Timing
from nodes.explore.calls import CONTENT
from nodes.explore.plan import Caller, Fault, Plan
from nodes.families import family_named
from nodes.faults.table import LINK_VERBS
from nodes.sim.conditions import CALM

T = TypeVar("T")
Fails = Callable[[Plan], bool]
KEPT = ("protocol", "groups", "timing", "holes", "mutations", "data", "journal", "cluster")
"""Parts of a cluster that are not simply set to their defaults."""


def shrink(plan: Plan, fails: Fails, go_on: Callable[[], bool] = lambda: True) -> Plan:
    """A plan that `fails` and none of whose simplifications does; an unfinished one when `go_on` returns False."""
    while go_on():
        before = plan
        for simplify in PASSES:
            plan = simplify(plan, fails, go_on)
        if plan == before:
            break
    return plan


# --- lists -------------------------------------------------------------------------------------------------------------


def fewer(items: list[T], fails: Callable[[list[T]], bool], go_on: Callable[[], bool]) -> list[T]:
    """Delta debugging: leaves out ever smaller parts of a list as long as it still fails."""
    size = len(items)
    while size and items and go_on():
        at, changed = 0, False
        while at < len(items) and go_on():
            without = items[:at] + items[at + size :]
            if fails(without):
                items, changed = without, True
            else:
                at += size
        if not changed or size > len(items):
            size = min(size // 2, len(items)) if size > 1 else 0
    return items


def fewer_faults(plan: Plan, fails: Fails, go_on: Callable[[], bool]) -> Plan:
    faults = fewer(plan.faults, lambda each: fails(replace(plan, faults=each)), go_on)
    return replace(plan, faults=faults)


def fewer_callers(plan: Plan, fails: Fails, go_on: Callable[[], bool]) -> Plan:
    callers = fewer(plan.callers, lambda each: fails(replace(plan, callers=each)), go_on)
    return replace(plan, callers=callers)


def fewer_calls(plan: Plan, fails: Fails, go_on: Callable[[], bool]) -> Plan:
    for place in range(len(plan.callers)):
        plan = fewer_calls_of(plan, place, fails, go_on)
    return plan


def fewer_calls_of(plan: Plan, place: int, fails: Fails, go_on: Callable[[], bool]) -> Plan:
    calls = fewer(plan.callers[place].calls, lambda each: fails(with_caller(plan, place, calls=each)), go_on)
    return with_caller(plan, place, calls=calls)


def with_caller(plan: Plan, place: int, **changes: Any) -> Plan:
    callers = list(plan.callers)
    callers[place] = replace(callers[place], **changes)
    return replace(plan, callers=callers)


# --- single simplifications --------------------------------------------------------------------------------------------


def first_that_fails(candidates: Callable[[Plan], Iterator[Plan]]) -> Callable[..., Plan]:
    """A pass that takes every simplification that still fails, one after the other."""

    def simplify(plan: Plan, fails: Fails, go_on: Callable[[], bool]) -> Plan:
        changed = True
        while changed and go_on():
            changed = False
            for candidate in candidates(plan):
                if candidate != plan and go_on() and fails(candidate):
                    plan, changed = candidate, True
                    break
        return plan

    return simplify


def smaller_clusters(plan: Plan) -> Iterator[Plan]:
    """Fewer groups, fewer servers, fewer data nodes; faults at removed servers are removed with them."""
    cluster = plan.cluster
    if len(cluster.groups) > 1:
        yield in_cluster(plan, groups=cluster.groups[:-1])
    least = 1 if not family_named(cluster.protocol).standbys else 2
    if len(cluster.groups[0].members) > least:
        yield in_cluster(plan, groups=[GroupConfig(g.name, g.number, g.members[:-1]) for g in cluster.groups])
    nodes = cluster.data.nodes
    if nodes and not any(call.split(" ")[0] in CONTENT for caller in plan.callers for call in caller.calls):
        yield in_cluster(plan, data=DataConfig())
    if len(nodes) > 1:
        yield in_cluster(plan, data=replace(cluster.data, nodes=nodes[:-1]))
    if len(cluster.journal.nodes) > 3:
        yield in_cluster(plan, journal=replace(cluster.journal, nodes=cluster.journal.nodes[:-1]))


def in_cluster(plan: Plan, **changes: Any) -> Plan:
    cluster = replace(plan.cluster, **changes)
    there = names_of(cluster) | {caller.name for caller in plan.callers}
    gone = (names_of(plan.cluster) | {group.name for group in plan.cluster.groups}) - there
    gone -= {group.name for group in cluster.groups}
    faults = [fault for fault in plan.faults if not gone & words_of(fault)]
    return replace(plan, cluster=cluster, faults=faults)


def names_of(cluster: ClusterConfig) -> set[str]:
    servers = {name for group in cluster.groups for name in group.members}
    return servers | set(cluster.data.nodes) | set(cluster.journal.nodes)


def words_of(fault: Fault) -> set[str]:
    """The servers and groups that a fault names."""
    named = {word.rpartition(" of ")[2] for word in fault.targets}
    return named | ({fault.on.server.rpartition(" of ")[2]} if fault.on is not None else set())


def default_knobs(plan: Plan) -> Iterator[Plan]:
    cluster = plan.cluster
    if plan.conditions != CALM:
        yield replace(plan, conditions=CALM)
    for field in fields(plan.conditions):
        plain = getattr(CALM, field.name)
        yield replace(plan, conditions=replace(plan.conditions, **{field.name: plain}))
    plain_cluster = ClusterConfig()
    for field in fields(cluster):
        if field.name not in KEPT:
            yield in_cluster(plan, **{field.name: getattr(plain_cluster, field.name)})
    for field in fields(cluster.timing):
        timing = replace(cluster.timing, **{field.name: getattr(Timing(), field.name)})
        yield in_cluster(plan, timing=timing)


def simpler_callers(plan: Plan) -> Iterator[Plan]:
    plain = Caller("", [])
    for place, caller in enumerate(plan.callers):
        for name in ("dies_ms", "start_ms", "pause_us", "every_us", "lanes", "leaves"):
            if getattr(caller, name) != getattr(plain, name):
                yield with_caller(plan, place, **{name: getattr(plain, name)})


def simpler_faults(plan: Plan) -> Iterator[Plan]:
    """Fewer targets, no options, rounder and earlier times, a shorter duration or none."""
    for place, fault in enumerate(plan.faults):
        for change in simpler(fault):
            faults = list(plan.faults)
            faults[place] = replace(fault, **change)
            yield replace(plan, faults=faults)


def simpler(fault: Fault) -> Iterator[dict[str, Any]]:
    if len(fault.targets) > 2 or (len(fault.targets) == 2 and fault.verb not in LINK_VERBS):
        for place in range(len(fault.targets)):
            yield {"targets": fault.targets[:place] + fault.targets[place + 1 :]}
    for name in fault.options:
        yield {"options": {key: value for key, value in fault.options.items() if key != name}}
    if fault.for_ms:
        yield {"for_ms": 0}
    for unit in (1_000, 100, 10):
        if fault.at_ms % unit:
            yield {"at_ms": fault.at_ms // unit * unit}


def shorter(plan: Plan) -> Iterator[Plan]:
    for part in (4, 2):
        yield replace(plan, span_ms=max(1, plan.span_ms // part))


PASSES: tuple[Callable[..., Plan], ...] = (
    fewer_faults,
    fewer_callers,
    fewer_calls,
    first_that_fails(smaller_clusters),
    first_that_fails(default_knobs),
    first_that_fails(shorter),
    first_that_fails(simpler_callers),
    first_that_fails(simpler_faults),
)
