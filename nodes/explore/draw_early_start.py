"""The start of a trial: most begin at rest, some while the groups elect their first leaders and record their first configurations."""

from __future__ import annotations

import random

from msgspec.structs import replace

from nodes.config import ClusterConfig
from nodes.explore.atlas import within
from nodes.explore.bugs import begins_early
from nodes.explore.draw_faults import FaultDrawer
from nodes.explore.draw_triggers import draw_trigger
from nodes.explore.plan import FIRST, WHOEVER, Fault, Plan
from nodes.explore.progress import STEPS
from nodes.families import family_named
from nodes.sim.ensemble import COORDINATION
from nodes.sim.triggers import Trigger

UNSETTLED = 0.1
"""Share of seeds that begin before the cluster has come to rest."""
AFTER_MS = (0, 0, 0, 5, 20, 100)
WINDOW_MS = (10, 100, 400)
"""Spans of the faults that meet the first elections."""
SERVES = ("upgrade", "view change")
"""Procedures by which a server comes to serve."""
LAST = 3
"""The first record of a group is complete within so many of their last steps."""
SLOW_MS = (10, 20, 40)
"""Delays on the way to coordination: the first record of a group is written meanwhile."""


def started_early(plan: Plan) -> Plan:
    """The plan; in some seeds it begins early, with faults of its own in its first moments."""
    rng = random.Random(f"{plan.seed}/beginning")
    if rng.random() >= UNSETTLED and not begins_early(plan.cluster.mutations):
        return plan
    if rng.random() < 0.5:
        early = meet_first_takeover(rng, plan.cluster)
    else:
        clients = [caller.name for caller in plan.callers]
        early = FaultDrawer(rng, plan.cluster, clients, rng.choice(WINDOW_MS)).draw()
    faults = within(plan.cluster, [*early, *map(in_present_roles, plan.faults)])
    return replace(plan, unsettled_ms=rng.choice(AFTER_MS), faults=faults)


def in_present_roles(fault: Fault) -> Fault:
    """The fault with roles at its own time: at the beginning of the load no server has one yet."""
    on = fault.on and replace(
        fault.on, server=fault.on.server.removeprefix(FIRST), peer=fault.on.peer.removeprefix(FIRST)
    )
    return replace(fault, targets=[word.removeprefix(FIRST) for word in fault.targets], on=on)


def meet_first_takeover(rng: random.Random, cluster: ClusterConfig) -> list[Fault]:
    """Faults at whichever member first comes to a place of its progress, mostly while coordination is slow."""
    found: list[Fault] = []
    session = cluster.timing.session_timeout_ms
    for group in cluster.groups:
        if rng.random() < 0.7:
            ms = rng.choice(SLOW_MS)
            found += [Fault("delay", [name, COORDINATION], {"ms": ms}) for name in group.members]
        on = place_of(rng, cluster, f"{WHOEVER}{group.name}")
        verb = rng.choice(("crash", "crash", "power_loss", "pause"))
        found.append(Fault(verb, [on.server], on=on, for_ms=rng.choice((0, 0, 20, session, 2 * session))))
    return found


def place_of(rng: random.Random, cluster: ClusterConfig, server: str) -> Trigger:
    """A place in the first takeover, in half of the draws near its end."""
    if rng.random() < 0.5:
        return draw_trigger(rng, cluster, server, (1, 1, 1, 2))
    steps = STEPS[family_named(cluster.protocol).replication]
    last = [step for step in steps if step.partition("/")[0] in SERVES][-LAST:]
    return Trigger("step", server, name=rng.choice(last))
