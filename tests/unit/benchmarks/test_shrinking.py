"""The plans whose shrinking is measured."""

from __future__ import annotations

from benchmarks._shrinker import CALLS, FAULTS, enlarged, without_bug
from nodes.explore.draw import draw
from nodes.mutations import NO_MUTATIONS, Mutations


def test_a_plan_is_enlarged_to_thirty_faults_and_five_hundred_operations() -> None:
    drawn = draw(7, "mams", mutations=Mutations(off_by_one_quorum=True))
    plan = enlarged(drawn)
    assert (len(plan.faults), plan.calls) == (FAULTS, CALLS) == (30, 500)
    assert plan == enlarged(drawn) and plan.cluster == drawn.cluster
    assert without_bug(plan).cluster.mutations == NO_MUTATIONS
