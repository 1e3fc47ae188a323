"""The trials of a lab: those of the explorer for one family, in one group and without data nodes, so that hundreds take less than a minute."""

from __future__ import annotations

from random import Random

from msgspec.structs import replace

from nodes.config import DataConfig, Knobs
from nodes.explore.calls import CONTENT
from nodes.explore.draw import draw
from nodes.explore.plan import WHOEVER, Caller, Fault, Plan
from nodes.explore.shrinker import in_cluster
from nodes.sim.conditions import CALM

CALLS_MAX = 24
FAULTS_MAX = 12
SPAN_MAX_MS = 5_000
SIZE_MAX = 4


def plan_of(seed: int, protocol: str) -> Plan:
    """The trial of a seed, drawn for this family."""
    plan = draw(seed, protocol)
    group = plan.cluster.groups[0]
    group = replace(group, members=group.members[:SIZE_MAX])
    plan = in_cluster(plan, groups=[group], data=DataConfig(), knobs=Knobs(), order="fast", image_every=0)
    faults = [fault for fault in plan.faults if known(fault, plan)][:FAULTS_MAX]
    callers = [shortened(caller) for caller in plan.callers[:3]]
    return replace(
        plan,
        callers=[caller for caller in callers if caller.calls],
        faults=faults,
        span_ms=min(plan.span_ms, SPAN_MAX_MS),
        conditions=plan.conditions if Random(f"{seed}/conditions").random() < 0.3 else CALM,
    )


def of_family(plan: Plan, protocol: str, verbs: tuple[str, ...]) -> Plan:
    """The same trial for a family that the explorer does not know, whose members grant no leases. It has these faults only, and none at a place in a
    server's progress: such places are steps and messages of the family that it was drawn for."""
    faults = [fault for fault in plan.faults if fault.verb in verbs and not of_whoever(fault)]
    cluster = replace(plan.cluster, protocol=protocol, detection="session")
    return replace(plan, cluster=cluster, faults=[replace(fault, on=None) for fault in faults])


def of_whoever(fault: Fault) -> bool:
    return any(target.startswith(WHOEVER) for target in fault.targets)


def shortened(caller: Caller) -> Caller:
    calls = [call for call in caller.calls if call.split(" ")[0] not in CONTENT]
    return replace(caller, calls=calls[:CALLS_MAX])


def known(fault: Fault, plan: Plan) -> bool:
    """Whether the targets of a fault are still there."""
    groups = {group.name for group in plan.cluster.groups}
    words = [*fault.targets, *((fault.on.server, fault.on.peer) if fault.on is not None else ())]
    return all(word.rpartition(" of ")[2] in groups for word in words if " of " in word)
