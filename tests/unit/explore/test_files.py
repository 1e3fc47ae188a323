"""Plans in files: a plan survives the round trip, and an invalid file gets one line."""

from __future__ import annotations

import re
from typing import Any

import pytest

from nodes.explore.check import check
from nodes.explore.draw import draw
from nodes.explore.files import plan_of, sparse
from nodes.explore.plan import Plan
from nodes.families import FAMILIES


@pytest.mark.parametrize("seed", range(40))
def test_a_plan_comes_back_from_its_file(seed: int) -> None:
    plan = draw(seed)
    assert plan_of(sparse(plan)) == plan


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"span_ms": -1}, "Expected `int` >= 0"),
        ({"knobs": 1}, "unknown field `knobs`"),
        ({"callers": [{"name": "c1", "calls": ["fly /a"]}]}, "is no call"),
        ({"callers": [{"name": "c1", "calls": [], "lanes": 0}]}, "Expected `int` >= 1"),
        ({"conditions": {"lose": 2.0}}, "lose is 2.0"),
        ({"cluster": {"protocol": "fax"}}, "the protocol 'fax' is unknown"),
        ({"cluster": {"groups": []}}, "runs 1 to 8 groups, not 0"),
        ({"cluster": {"image_partitions": 900}}, "Expected `int` <= 64"),
        ({"cluster": {"image_gap": -5}}, "Expected `int` >= 1"),
        ({"cluster": {"min_in_step": -5}}, "Expected `int` >= 0"),
        ({"seed": 10**23}, "seed"),
        ({"seed": -1}, "Expected `int` >= 0"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(change: dict[str, Any], words: str) -> None:
    raw = {**sparse(draw(1, "mams")), **change}
    with pytest.raises(ValueError, match=words) as refused:
        plan_of(raw)
    assert "\n" not in str(refused.value)


G1 = {"name": "g1", "number": 1, "members": ["mds1", "mds2"]}
ON = {"kind": "step", "server": "mds1"}


@pytest.mark.parametrize(
    ("fault", "words", "place"),
    [
        ({"verb": "crsh"}, "no fault is called 'crsh'; there are crash, ", "verb"),
        ({"verb": "crsh"}, "a trial also has mark, recover, hand_over", "verb"),
        ({"targets": ["mds9"]}, "nothing is called 'mds9'; there are g1, mds1, mds2, c1, coordination, and", "targets"),
        ({"targets": ["active of g7"]}, "nothing is called 'active of g7'", "targets"),
        ({"targets": ["boss of g1"]}, "and roles such as `active of g1`", "targets"),
        ({"targets": ["whoever of g1"]}, "the fault needs `on`", "targets"),
        ({"targets": []}, "crash takes 1 to 32 targets, was given 0", "targets"),
        ({"verb": "mark", "targets": []}, "mark takes 1 target, was given 0", "targets"),
        ({"verb": "hand_over", "options": {"to": "x"}}, "hand_over has no option 'to'", "options.to"),
        ({"options": {"tor": "any"}}, "crash has no option 'tor'; it has none", "options.tor"),
        ({"verb": "power_loss", "options": {"tor": "any"}}, "it has torn", "options.tor"),
        ({"verb": "power_loss", "options": {"torn": "banana"}}, "option torn of power_loss is one of", "options.torn"),
        ({"verb": "cut", "options": {"others": ["x"]}}, "nothing is called 'x'", "options.others"),
        ({"on": {**ON, "kind": "stepp"}}, "kind 'stepp': use one of sync, write, sent, delivered, step", "on.kind"),
        ({"on": {**ON, "when": "now"}}, "when 'now': use one of before, after", "on.when"),
        ({"on": {**ON, "when": "before"}}, "use `when: after`", "on.when"),
        ({"on": {**ON, "ordinal": -3}}, "ordinal -3: they are counted from 1", "on.ordinal"),
        ({"on": {**ON, "server": "mds9"}}, "nothing is called 'mds9'", "on.server"),
        ({"on": {**ON, "peer": "mds9"}}, "nothing is called 'mds9'", "on.peer"),
    ],
)  # fmt: skip
def test_a_wrong_fault_is_refused_with_its_place(fault: dict[str, Any], words: str, place: str) -> None:
    raw: dict[str, Any] = {"seed": 1, "cluster": {"groups": [G1]}, "callers": [{"name": "c1", "calls": []}]}
    raw["faults"] = [{"verb": "pause", "targets": ["c1"]}, {"verb": "crash", "targets": ["mds1"], **fault}]
    with pytest.raises(ValueError, match=re.escape(words)) as refused:
        plan_of(raw)
    assert str(refused.value).endswith(f" - at `$.faults[1].{place}`")


@pytest.mark.parametrize(
    ("cluster", "words", "place"),
    [
        ({"groups": [{**G1, "members": ["mds1", "mds1"]}]}, "the name 'mds1' is taken", "cluster.groups[0].members"),
        ({"groups": [G1, {**G1, "members": ["mds3"]}]}, "the name 'g1' is taken", "cluster.groups[1].name"),
        ({"groups": [G1, {**G1, "name": "g2", "members": ["mds3"]}]}, "are not all different", "cluster.groups"),
        ({"groups": [{**G1, "members": ["mds1", "coordination"]}]}, "is taken", "cluster.groups[0].members"),
        ({"groups": [{**G1, "members": ["c1"]}]}, "the name 'c1' is taken", "callers[0].name"),
        ({"data": {"nodes": ["mds1"]}}, "the name 'mds1' is taken", "cluster"),
        ({"protocol": "qjm", "journal": {"nodes": ["jn1"]}}, "needs at least 3 journal-nodes here, not 1", "cluster.journal"),
        ({"protocol": "bookkeeper", "journal": {"nodes": ["a", "b"]}}, "at least 3 bookies here, not 2", "cluster.journal"),
        ({"groups": [{**G1, "members": ["prober1"]}]}, "the audit's own clients", "cluster.groups[0].members"),
        ({"min_in_step": 3}, "a group of 2 servers never has 3 in step", "cluster.min_in_step"),
        ({"timing": {"heartbeat_ms": 6000}}, "a heartbeat each 6000 ms keeps no session of 5000 ms", "cluster.timing"),
    ],
)  # fmt: skip
def test_a_wrong_cluster_is_refused_with_its_place(cluster: dict[str, Any], words: str, place: str) -> None:
    raw: dict[str, Any] = {
        "seed": 1,
        "cluster": {"groups": [G1], **cluster},
        "callers": [{"name": "c1", "calls": []}],
    }
    with pytest.raises(ValueError, match=re.escape(words)) as refused:
        plan_of(raw)
    assert str(refused.value).endswith(f" - at `$.{place}`")


def test_a_server_that_the_trial_adds_may_be_named() -> None:
    raw: dict[str, Any] = {
        "seed": 1,
        "cluster": {"groups": [G1]},
        "faults": [{"verb": "crash", "targets": ["mds3"]}],
    }
    with pytest.raises(ValueError, match="nothing is called 'mds3'"):
        plan_of(raw)
    raw["faults"].append({"verb": "add_server", "targets": ["g1"]})
    assert len(plan_of(raw).faults) == 2


@pytest.mark.parametrize("protocol", FAMILIES)
def test_no_plan_that_is_drawn_is_refused(protocol: str) -> None:
    for seed in range(100):
        check(draw(seed, protocol))


def test_one_to_four_groups_are_drawn() -> None:
    assert {len(draw(seed, "mams").cluster.groups) for seed in range(300)} == {1, 2, 3, 4}


def test_plans_of_all_families_are_drawn() -> None:
    plans = [draw(seed) for seed in range(400)]
    assert len({plan.cluster.protocol for plan in plans}) == 10
    assert max(sizes(plan) for plan in plans) == 6 and min(sizes(plan) for plan in plans) == 1
    verbs = {fault.verb for plan in plans for fault in plan.faults}
    assert {
        "crash",
        "power_loss",
        "pause",
        "cut",
        "clog",
        "corrupt",
        "new_disk",
        "gone",
        "drift_clock",
        "recover",
        "add_server",
    } <= verbs


def sizes(plan: Plan) -> int:
    return len(plan.cluster.groups[0].members)
