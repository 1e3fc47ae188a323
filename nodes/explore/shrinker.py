"""Shrinks a failing plan to the smallest one that fails in the same way: leaves out, shortens, simplifies, until nothing more can be removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from msgspec.structs import fields, replace

from nodes.config import ClusterConfig, DataConfig, GroupConfig, Timing
from nodes.explore.calls import CONTENT
from nodes.explore.check import check_parts
from nodes.explore.plan import Caller, Fault, Plan
from nodes.families import family_named
from nodes.faults.table import LINK_VERBS
from nodes.kinds import nodes_of
from nodes.sim.conditions import CALM

T = TypeVar("T")
Fails = Callable[[Plan], bool]
KEPT = ("protocol", "groups", "timing", "holes", "mutations", "data", "journal", "cluster")
"""Parts of a cluster that are not simply set to their defaults."""


def shrink(plan: Plan, fails: Fails, go_on: Callable[[], bool] = lambda: True) -> Plan:
    """A plan that `fails` and none of whose simplifications does; an unfinished one when `go_on` returns False. A candidate that no file may
    have is skipped: the shrunk plan is read again."""

    def fails_in_a_file(candidate: Plan) -> bool:
        return readable(candidate) and fails(candidate)

    while go_on():
        before = plan
        for simplify in PASSES:
            plan = simplify(plan, fails_in_a_file, go_on)
        if plan == before:
            break
    return plan


def readable(plan: Plan) -> bool:
    try:
        check_parts(plan)
    except ValueError:
        return False
    return True


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
    callers = fewer(plan.callers, lambda each: fails(with_callers(plan, each)), go_on)
    return with_callers(plan, callers)


def with_callers(plan: Plan, callers: list[Caller]) -> Plan:
    """Faults at removed clients are removed with them."""
    gone = {caller.name for caller in plan.callers} - {caller.name for caller in callers}
    return replace(
        plan, callers=callers, faults=[fault for fault in plan.faults if not gone & words_of(fault)]
    )


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
    """Without any one group, server, data node or journal node; faults at removed ones are removed with them."""
    cluster = plan.cluster
    if len(cluster.groups) > 1:
        yield from (without_group(plan, place) for place in backwards(cluster.groups))
    least = 1 if not family_named(cluster.protocol).standbys else 2
    for place, group in enumerate(cluster.groups):
        if len(group.members) > least:
            for members in without_one(group.members):
                yield in_cluster(plan, groups=with_members(cluster.groups, place, members))
    nodes = cluster.data.nodes
    if nodes and not any(call.split(" ")[0] in CONTENT for caller in plan.callers for call in caller.calls):
        yield in_cluster(plan, data=DataConfig())
    if len(nodes) > 1:
        for left in without_one(nodes):
            yield in_cluster(plan, data=replace(cluster.data, nodes=left))
    bookies = family_named(cluster.protocol).journal_role == "bookie"
    if len(cluster.journal.nodes) > (cluster.journal.ensemble if bookies else 3):
        for left in without_one(cluster.journal.nodes):
            yield in_cluster(plan, journal=replace(cluster.journal, nodes=left))


def backwards(items: list[T]) -> Iterator[int]:
    return reversed(range(len(items)))


def without_one(items: list[T]) -> Iterator[list[T]]:
    return (items[:place] + items[place + 1 :] for place in backwards(items))


def with_members(groups: list[GroupConfig], place: int, members: list[str]) -> list[GroupConfig]:
    changed = list(groups)
    changed[place] = GroupConfig(groups[place].name, groups[place].number, members)
    return changed


def without_group(plan: Plan, place: int) -> Plan:
    """The later groups move up: the root is at home in the first one."""
    before = plan.cluster.groups
    left = before[:place] + before[place + 1 :]
    smaller = in_cluster(plan, groups=left)
    names = {old.name: new.name for old, new in zip(left, before, strict=False)}
    groups = [GroupConfig(new.name, new.number, old.members) for old, new in zip(left, before, strict=False)]
    faults = [renamed(fault, names) for fault in smaller.faults]
    return replace(smaller, cluster=replace(smaller.cluster, groups=groups), faults=faults)


def renamed(fault: Fault, names: dict[str, str]) -> Fault:
    """The fault with the new names of groups."""

    def rename(word: str) -> str:
        role, of, group = word.rpartition(" of ")
        return f"{role}{of}{names.get(group, group)}"

    on = fault.on and replace(fault.on, server=rename(fault.on.server), peer=rename(fault.on.peer))
    return replace(fault, targets=[rename(word) for word in fault.targets], on=on)


def in_cluster(plan: Plan, **changes: Any) -> Plan:
    cluster = replace(plan.cluster, **changes)
    there = names_of(cluster) | {caller.name for caller in plan.callers}
    gone = (names_of(plan.cluster) | {group.name for group in plan.cluster.groups}) - there
    gone -= {group.name for group in cluster.groups}
    faults = [fault for fault in plan.faults if not gone & words_of(fault)]
    return replace(plan, cluster=cluster, faults=faults)


def names_of(cluster: ClusterConfig) -> set[str]:
    servers = {name for group in cluster.groups for name in group.members}
    return servers | set(nodes_of(cluster))


def words_of(fault: Fault) -> set[str]:
    """The servers and groups that a fault names."""
    words = [
        *fault.targets,
        *fault.options.get("others", ()),
        *((fault.on.server, fault.on.peer) if fault.on is not None else ()),
    ]
    return {word.rpartition(" of ")[2] for word in words}


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


EIGHTHS = (1, 2, 4, 6)


def less_progress(plan: Plan) -> Iterator[Plan]:
    """A part of the calls and of the ordinals of tied faults: the n-th message needs the calls that bring about n of them, so that neither can
    be less without the other."""
    if all(fault.on is None or fault.on.ordinal == 1 for fault in plan.faults):
        return
    for part in EIGHTHS:
        callers = [replace(each, calls=each.calls[: len(each.calls) * part // 8]) for each in plan.callers]
        yield replace(plan, callers=callers, faults=[sooner(fault, part) for fault in plan.faults])


def sooner(fault: Fault, part: int) -> Fault:
    if fault.on is None:
        return fault
    return replace(fault, on=replace(fault.on, ordinal=max(1, fault.on.ordinal * part // 8)))


def simpler_callers(plan: Plan) -> Iterator[Plan]:
    plain = Caller("", [])
    for place, caller in enumerate(plan.callers):
        for name in ("dies_ms", "start_ms", "pause_us", "every_us", "lanes", "leaves"):
            if getattr(caller, name) != getattr(plain, name):
                yield with_caller(plan, place, **{name: getattr(plain, name)})
        for name in ("dies_ms", "start_ms", "lanes"):
            if getattr(caller, name) > 1:
                yield with_caller(plan, place, **{name: getattr(caller, name) // 2})


def simpler_faults(plan: Plan) -> Iterator[Plan]:
    """Fewer targets, no options, rounder and earlier times, a shorter duration or none, an earlier place of progress."""
    for place, fault in enumerate(plan.faults):
        for change in simpler(fault):
            faults = list(plan.faults)
            faults[place] = replace(fault, **change)
            yield replace(plan, faults=faults)


def simpler(fault: Fault) -> Iterator[dict[str, Any]]:
    if len(fault.targets) > 2 or (len(fault.targets) == 2 and fault.verb not in LINK_VERBS):
        for place in range(len(fault.targets)):
            yield {"targets": fault.targets[:place] + fault.targets[place + 1 :]}
    others = fault.options.get("others", ())
    for place in range(len(others) if len(others) > 1 else 0):
        yield {"options": {**fault.options, "others": [*others[:place], *others[place + 1 :]]}}
    for name in fault.options:
        yield {"options": {key: value for key, value in fault.options.items() if key != name}}
    if fault.for_ms:
        yield {"for_ms": 0}
        yield {"for_ms": max(1, fault.for_ms // 2)}
    if fault.on is not None and fault.on.ordinal > 1:
        yield {"on": replace(fault.on, ordinal=1)}
        yield {"on": replace(fault.on, ordinal=fault.on.ordinal // 2)}
    for unit in (1_000, 100, 10):
        if fault.at_ms % unit:
            yield {"at_ms": fault.at_ms // unit * unit}


def begun_at_rest(plan: Plan) -> Iterator[Plan]:
    """From a cluster at rest, or from its start."""
    if plan.unsettled_ms is not None:
        yield replace(plan, unsettled_ms=None)
        yield replace(plan, unsettled_ms=0)


def shorter(plan: Plan) -> Iterator[Plan]:
    for part in (4, 2):
        yield replace(plan, span_ms=max(1, plan.span_ms // part))


PASSES: tuple[Callable[..., Plan], ...] = (
    fewer_faults,
    fewer_callers,
    first_that_fails(less_progress),
    fewer_calls,
    first_that_fails(smaller_clusters),
    first_that_fails(default_knobs),
    first_that_fails(begun_at_rest),
    first_that_fails(shorter),
    first_that_fails(simpler_callers),
    first_that_fails(simpler_faults),
)
