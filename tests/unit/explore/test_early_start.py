"""Some trials begin while the groups elect their first leaders."""

from __future__ import annotations

from nodes.explore.draw import SAFE, draw
from nodes.explore.draw_early_start import UNSETTLED
from nodes.explore.files import plan_of, sparse
from nodes.explore.plan import FIRST, WHOEVER, Plan
from nodes.explore.trial import Trial
from nodes.mutations import Mutations
from nodes.trace.events import FaultInjected, Serving

SEEDS = 1_000


def early(protocol: str) -> list[Plan]:
    return [
        plan for plan in (draw(seed, protocol) for seed in range(1, SEEDS)) if plan.unsettled_ms is not None
    ]


def test_a_share_of_the_plans_of_each_family_begins_early() -> None:
    for protocol in SAFE:
        assert 0.7 * UNSETTLED < len(early(protocol)) / SEEDS < 1.4 * UNSETTLED


def test_faults_of_a_plan_that_begins_early_name_no_role_at_its_beginning() -> None:
    words = [
        word
        for plan in early("mams")
        for fault in plan.faults
        for word in (*fault.targets, *((fault.on.server, fault.on.peer) if fault.on else ()))
    ]
    assert any(word.startswith(WHOEVER) for word in words)
    assert not [word for word in words if word.startswith(FIRST)]


def test_a_file_says_when_it_begins() -> None:
    plan = early("2pc")[0]
    assert plan_of(sparse(plan)) == plan


def test_faults_meet_the_first_takeover() -> None:
    met = 0
    for plan in early("mams")[:20]:
        trial = Trial(plan)
        assert trial.run().failures == []
        kinds = [type(stamped.event) for stamped in trial.events]
        met += FaultInjected in kinds[: kinds.index(Serving)]
    assert met >= 5


def test_a_bug_of_the_first_takeover_is_found() -> None:
    """The first record of a group names one server, which is lost then: the others wait for it for ever."""
    plan = draw(95, "mams", mutations=Mutations(registers_while_elected=True))
    assert [failure.invariant for failure in Trial(plan).run().failures] == ["service"]
    assert Trial(draw(95, "mams")).run().failures == []
