"""Shrinking of a real failure: a known bug is switched on, a drawn plan that it breaks is enlarged, and comes down to its core again."""

from __future__ import annotations

import random
import time
from typing import Any

from msgspec.structs import replace

from backend.errors import LabError
from backend.explore.work import SHRINK_S, bounded, fails_so
from nodes.config import Holes
from nodes.explore.atlas import within
from nodes.explore.draw import draw
from nodes.explore.draw_faults import FaultDrawer
from nodes.explore.draw_load import PROFILES, Names, draw_calls
from nodes.explore.plan import Failure, Plan
from nodes.explore.shrinker import shrink
from nodes.mutations import Mutations

FAULTS = 30
CALLS = 500
SEEDS = 1_000


def enlarged(plan: Plan) -> Plan:
    """The plan with further drawn faults and calls, `FAULTS` and `CALLS` in all; within what its family survives."""
    rng = random.Random(f"{plan.seed}/enlarged")
    faults, clients = plan.faults, [caller.name for caller in plan.callers]
    while len(faults) < FAULTS:
        more = FaultDrawer(rng, plan.cluster, clients, plan.span_ms).draw()
        faults = within(plan.cluster, faults + more)[:FAULTS]
    callers, names, left = [], Names(rng, 4, 3), CALLS
    for place, caller in enumerate(plan.callers):
        share = left // (len(plan.callers) - place)
        more_calls = draw_calls(rng, names, PROFILES["mixed"], share - len(caller.calls), first=not place)
        callers.append(replace(caller, calls=(caller.calls + more_calls)[:share]))
        left -= share
    return replace(plan, faults=faults[:FAULTS], callers=callers)


def without_bug(plan: Plan) -> Plan:
    return replace(plan, cluster=replace(plan.cluster, holes=Holes(), mutations=Mutations()))


def broken(family: str, holes: Holes, mutations: Mutations) -> tuple[Plan, Failure]:
    """The first enlarged plan that violates an invariant with the bug, and none without it. Raises LabError."""
    for seed in range(1, SEEDS):
        drawn = draw(seed, family, holes, mutations)
        plan = enlarged(drawn) if drawn.callers else drawn
        failures = bounded(plan).failures if plan.calls == CALLS else []
        if failures and bounded(without_bug(plan)).clean:
            return plan, failures[0]
    raise LabError(f"no seed of {SEEDS} fails with this bug")


def measured(family: str, holes: Holes, mutations: Mutations) -> dict[str, Any]:
    """Seconds, trials and sizes; `shrink_complete` when nothing more could be removed within the limit of `explore`."""
    plan, failure = broken(family, holes, mutations)
    began_s, trials, in_time = time.monotonic(), 0, True

    def fails(candidate: Plan) -> bool:
        nonlocal trials
        trials += 1
        return fails_so(candidate, failure)

    def go_on() -> bool:
        nonlocal in_time
        in_time = in_time and time.monotonic() - began_s < SHRINK_S
        return in_time

    core = shrink(plan, fails, go_on)
    return {
        "shrink_s": round(time.monotonic() - began_s, 1),
        "shrink_complete": in_time,
        "shrink_trials": trials,
        "shrink_faults": [len(plan.faults), len(core.faults)],
        "shrink_calls": [plan.calls, core.calls],
        "shrink_servers": [servers_of(plan), servers_of(core)],
        "shrink_seed": plan.seed,
        "shrink_invariant": failure.invariant,
    }


def servers_of(plan: Plan) -> int:
    return sum(len(group.members) for group in plan.cluster.groups)
