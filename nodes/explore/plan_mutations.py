"""Neighbours of a plan that reached a new feature: the same plan with one thing changed."""

from __future__ import annotations

import random
from collections.abc import Callable

from msgspec.structs import replace

from nodes.explore.check import Words, names_what_is_there
from nodes.explore.draw import draw_faults, moments_of
from nodes.explore.draw_cluster import draw_timing
from nodes.explore.draw_conditions import draw_conditions
from nodes.explore.draw_load import draw_callers
from nodes.explore.plan import Fault, Plan

FAULTS_MAX = 16
SPAN_LEAST_MS = 10
"""Faults are drawn in parts of a span, of which none may be empty."""


def neighbour(plan: Plan, other: Plan, seed: int) -> Plan:
    """A plan with its own seed that differs from `plan` in one or two things; faults may come from `other`."""
    rng = random.Random(f"{seed}/neighbour")
    changed = replace(plan, seed=seed, span_ms=max(SPAN_LEAST_MS, plan.span_ms))
    for _ in range(rng.choice((1, 1, 2))):
        changed = rng.choice(CHANGES)(changed, other, rng)
    words = Words(changed)  # A file with names that nothing has could not be read again.
    return replace(changed, faults=[fault for fault in changed.faults if names_what_is_there(fault, words)])


def clients_of(plan: Plan) -> list[str]:
    """The clients that faults are drawn for. A shrunk plan may have none: a fault of the one drawn for it is left out again."""
    return [caller.name for caller in plan.callers] or ["c1"]


def same(plan: Plan, other: Plan, rng: random.Random) -> Plan:
    """The same plan with another seed, which is another order of events."""
    return plan


def more_faults(plan: Plan, other: Plan, rng: random.Random) -> Plan:
    return replace(
        plan,
        faults=(plan.faults + draw_faults(rng, plan.cluster, clients_of(plan), plan.span_ms))[:FAULTS_MAX],
    )


def fewer_faults(plan: Plan, other: Plan, rng: random.Random) -> Plan:
    return replace(plan, faults=[fault for fault in plan.faults if rng.random() < 0.7])


def moved_faults(plan: Plan, other: Plan, rng: random.Random) -> Plan:
    return replace(plan, faults=[moved(fault, plan.span_ms, rng) for fault in plan.faults])


def moved(fault: Fault, span_ms: int, rng: random.Random) -> Fault:
    if fault.on is not None:
        return replace(fault, on=replace(fault.on, ordinal=max(1, fault.on.ordinal + rng.randint(-3, 3))))
    return replace(fault, at_ms=min(span_ms, max(0, fault.at_ms + rng.randint(-200, 200))))


def borrowed_faults(plan: Plan, other: Plan, rng: random.Random) -> Plan:
    """The plan with faults of another plan whose targets it also has."""
    here = {name for group in plan.cluster.groups for name in (*group.members, group.name)}
    known = [f for f in other.faults if all(w.rpartition(" of ")[2] in here for w in f.targets)]
    return replace(plan, faults=(plan.faults + known)[:FAULTS_MAX])


def other_load(plan: Plan, other: Plan, rng: random.Random) -> Plan:
    names = [name for name in clients_of(plan) if name[1:].isdigit()] or ["c1"]
    moments = [at_ms for at_ms in moments_of(plan.faults) if at_ms <= plan.span_ms]
    return replace(plan, callers=draw_callers(rng, plan.cluster, names, plan.span_ms, moments))


def other_timing(plan: Plan, other: Plan, rng: random.Random) -> Plan:
    return replace(plan, cluster=replace(plan.cluster, timing=draw_timing(rng)))


def other_conditions(plan: Plan, other: Plan, rng: random.Random) -> Plan:
    return replace(plan, conditions=draw_conditions(rng))


CHANGES: tuple[Callable[[Plan, Plan, random.Random], Plan], ...] = (
    same, same, more_faults, fewer_faults, moved_faults, moved_faults, borrowed_faults, other_load, other_timing, other_conditions,
)  # fmt: skip
