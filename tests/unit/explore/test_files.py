"""Plans in files: a plan survives the round trip, and an invalid file gets one line."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.explore.draw import draw
from nodes.explore.files import plan_of, sparse
from nodes.explore.plan import Plan


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
    ],
)
def test_what_is_wrong_is_said_in_one_line(change: dict[str, Any], words: str) -> None:
    raw = {**sparse(draw(1, "mams")), **change}
    with pytest.raises(ValueError, match=words) as refused:
        plan_of(raw)
    assert "\n" not in str(refused.value)


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
