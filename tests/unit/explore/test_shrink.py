"""Shrinking comes down to the core of a failure, and stops there."""

from __future__ import annotations

import random

from msgspec.structs import replace

from nodes.config import ClusterConfig, DataConfig, GroupConfig, Timing
from nodes.explore.plan import Caller, Fault, Plan
from nodes.explore.shrink import fewer, shrink
from nodes.sim.conditions import CALM, Conditions

CORE_FAULTS = {"crash mds2", "cut mds1"}
CORE_CALLS = {"create /a", "delete /a"}


def large() -> Plan:
    """A plan with 30 faults and 500 calls, of which two and two are the core."""
    rng = random.Random(1)
    faults = [
        Fault("pause", [f"mds{rng.randint(1, 3)}"], at_ms=rng.randrange(10_000), for_ms=77) for _ in range(28)
    ]
    faults += [
        Fault("crash", ["mds2"], at_ms=4_321, for_ms=50),
        Fault("cut", ["mds1"], {"direction": "to"}, 5_678),
    ]
    calls = [f"stat /x{number}" for number in range(250)]
    callers = [
        Caller("c1", [*calls[:100], "create /a", *calls[100:]], lanes=8, start_ms=13),
        Caller("c2", [*calls[:120], "delete /a", *calls[120:]], pause_us=400),
    ]
    cluster = ClusterConfig(
        groups=[
            GroupConfig("g1", 1, ["mds1", "mds2", "mds3"]),
            GroupConfig("g2", 2, ["mds4", "mds5", "mds6"]),
        ],
        timing=Timing(session_timeout_ms=777),
        data=DataConfig(["dn1", "dn2"]),
        image_gap=2,
    )
    rng.shuffle(faults)
    return Plan(7, cluster, Conditions(lose=0.1), callers, faults, 20_000)


class Fails:
    """A trial that fails with the core, and counts its runs."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, plan: Plan) -> bool:
        self.asked += 1
        faults = {f"{fault.verb} {fault.targets[0]}" for fault in plan.faults}
        calls = {call for caller in plan.callers for call in caller.calls}
        return faults >= CORE_FAULTS and calls >= CORE_CALLS and plan.span_ms >= 1_000


def test_a_large_failure_comes_down_to_its_core() -> None:
    fails = Fails()
    core = shrink(large(), fails)
    assert fails(core)
    assert {f"{fault.verb} {fault.targets[0]}" for fault in core.faults} == CORE_FAULTS
    assert sum(len(caller.calls) for caller in core.callers) == 2
    assert len(core.cluster.groups) == 1 and core.cluster.groups[0].members == ["mds1", "mds2"]
    assert core.conditions == CALM and core.cluster.timing == Timing() and not core.cluster.data.nodes
    assert core.span_ms < 2_500 and all(not fault.for_ms and not fault.options for fault in core.faults)
    assert fails.asked < 1_500


def test_the_core_is_a_fixed_point() -> None:
    core = shrink(large(), Fails())
    assert shrink(core, Fails()) == core


def test_what_fails_anyway_comes_down_to_nothing() -> None:
    nothing = shrink(large(), lambda plan: True)
    assert not nothing.faults and not nothing.callers


def test_nothing_is_left_out_that_the_failure_needs() -> None:
    plan = large()
    assert shrink(plan, lambda candidate: candidate == plan) == plan


def test_shrinking_stops_when_it_is_reported_to() -> None:
    left = 40

    def go_on() -> bool:
        nonlocal left
        left -= 1
        return left > 0

    fails = Fails()
    plan = shrink(large(), fails, go_on)
    assert fails(plan) and fails.asked < 60


def test_lists_come_down_to_what_is_needed() -> None:
    assert fewer(list(range(1_000)), lambda items: {3, 997} <= set(items), lambda: True) == [3, 997]
    assert fewer([], lambda items: True, lambda: True) == []


def test_a_fault_at_a_server_that_is_left_out_goes_with_it() -> None:
    plan = replace(large(), faults=[Fault("crash", ["mds6"])])
    assert shrink(plan, lambda candidate: True).faults == []
