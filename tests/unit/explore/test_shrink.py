"""Shrinking comes down to the core of a failure, and stops there."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from nodes.config import ClusterConfig, DataConfig, GroupConfig, JournalConfig, Timing
from nodes.explore.draw import draw
from nodes.explore.files import plan_of, sparse
from nodes.explore.plan import Caller, Fault, Plan
from nodes.explore.shrinker import fewer, shrink, without_group
from nodes.families import FAMILIES
from nodes.sim.conditions import CALM, Conditions
from nodes.sim.triggers import Trigger

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


def test_a_failure_that_needs_no_early_beginning_begins_at_rest() -> None:
    plan = replace(large(), unsettled_ms=100)
    assert shrink(plan, Fails()).unsettled_ms is None
    assert shrink(plan, lambda candidate: candidate.unsettled_ms is not None).unsettled_ms == 0


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


def shrunk_to(plan: Plan, *words: str) -> Plan:
    """Shrinks a plan that fails as long as its faults name all of these words."""

    def fails(candidate: Plan) -> bool:
        return set(words) <= {word for fault in candidate.faults for word in fault.targets}

    core = shrink(plan, fails)
    assert fails(core) and shrink(core, fails) == core
    return core


def test_any_server_is_left_out_and_not_only_the_last() -> None:
    plan = replace(large(), faults=[Fault("crash", ["mds3"]), Fault("crash", ["dn2"])])
    core = shrunk_to(plan, "mds3", "dn2").cluster
    assert core.groups == [GroupConfig("g1", 1, ["mds1", "mds3"])]
    assert core.data.nodes == ["dn2"]
    content = [Caller("c1", ["put /f 9"])]

    def fails(candidate: Plan) -> bool:
        return candidate.callers == content and any(fault.targets == ["dn2"] for fault in candidate.faults)

    assert shrink(replace(plan, callers=content), fails).cluster.data.nodes == ["dn2"]


def test_any_group_is_left_out_and_the_others_are_renamed() -> None:
    on = Trigger("sync", "active of g2")
    plan = replace(large(), faults=[Fault("crash", ["mds5"]), Fault("pause", ["active of g2"], on=on)])
    kept = without_group(plan, 0)
    assert kept.cluster.groups == [GroupConfig("g1", 1, ["mds4", "mds5", "mds6"])]
    assert kept.faults[1] == Fault("pause", ["active of g1"], on=Trigger("sync", "active of g1"))
    assert shrunk_to(plan, "mds5").cluster.groups == [GroupConfig("g1", 1, ["mds4", "mds5"])]


def test_journal_nodes_and_bookies_are_left_out() -> None:
    five = ["b1", "b2", "b3", "b4", "b5"]
    for protocol, ensemble, left in (("qjm", 3, 3), ("bookkeeper", 4, 4)):
        journal = JournalConfig(five, ensemble, 3, 2)
        plan = replace(
            large(),
            cluster=ClusterConfig(
                protocol=protocol, groups=[GroupConfig("g1", 1, ["mds1", "mds2"])], journal=journal
            ),
            faults=[Fault("crash", ["b5"])],
        )
        nodes = shrunk_to(plan, "b5").cluster.journal.nodes
        assert len(nodes) == left and "b5" in nodes


def test_places_of_progress_come_earlier_and_durations_get_shorter() -> None:
    fault = Fault("pause", ["mds1"], on=Trigger("sync", "mds1", 40), for_ms=900)

    def fails(candidate: Plan) -> bool:
        return any(
            each.on is not None and each.on.ordinal > 4 and each.for_ms >= 100 for each in candidate.faults
        )

    (core,) = shrink(replace(large(), faults=[fault]), fails).faults
    assert core.on is not None and core.on.ordinal == 5 and core.for_ms == 112


def test_a_fault_at_a_server_that_is_left_out_goes_with_it() -> None:
    plan = replace(large(), faults=[Fault("crash", ["mds6"])])
    assert shrink(plan, lambda candidate: True).faults == []


def test_calls_and_the_place_of_a_tied_fault_become_fewer_together() -> None:
    tied = Fault("crash", ["mds1"], on=Trigger("delivered", "mds2", 192, "after", "Prepared"))
    plan, trials = replace(large(), faults=[tied]), 0

    def fails(candidate: Plan) -> bool:
        nonlocal trials
        trials += 1
        return any(fault.on is not None and fault.on.ordinal <= candidate.calls for fault in candidate.faults)

    core = shrink(plan, fails)
    assert trials < 100  # one after the other takes hundreds
    assert core.calls == 1 and core.faults[0].on is not None and core.faults[0].on.ordinal == 1
    assert shrink(core, fails) == core


@pytest.mark.parametrize("protocol", FAMILIES)
@pytest.mark.parametrize("seed", range(3))
def test_every_candidate_can_be_read_from_its_file(protocol: str, seed: int) -> None:
    rng, asked = random.Random(f"{protocol}/{seed}"), 0

    def fails(candidate: Plan) -> bool:
        nonlocal asked
        asked += 1
        assert plan_of(sparse(candidate)) == candidate
        return rng.random() < 0.1

    shrink(draw(seed, protocol), fails, lambda: asked < 300)
    assert asked > 20


def test_a_candidate_that_no_file_may_have_is_skipped() -> None:
    """A default heartbeat beside a short session, fewer bookies than an ensemble, a fault at a client or server that is gone."""
    timing = Timing(heartbeat_ms=200, session_timeout_ms=600)
    faults = [Fault("pause", ["c1"]), Fault("add_server", ["g1"]), Fault("pause", ["mds3"])]
    cluster = ClusterConfig(groups=[GroupConfig("g1", 1, ["mds1", "mds2"])], timing=timing)
    plan = Plan(1, cluster, callers=[Caller("c1", ["create /a"])], faults=faults)

    def kept(candidate: Plan) -> bool:
        plan_of(sparse(candidate))
        return "pause mds3" in [" ".join([each.verb, *each.targets]) for each in candidate.faults]

    core = shrink(plan, kept)
    assert core.faults == faults[1:] and core.callers == [] and core.cluster.timing == Timing()
