"""Each seeded bug: with it an invariant is violated, without it the same schedule holds."""

from __future__ import annotations

import pytest

from nodes.mutations import Mutations
from nodes.sim.loop import Stuck
from tests.simulation.symmetric.lab import SymmetricLab
from tests.simulation.symmetric.mutations import SCHEDULES


@pytest.mark.parametrize("name", SCHEDULES)
def test_with_the_mistake_it_is_seen(name: str) -> None:
    schedule, signs, settings = SCHEDULES[name]
    lab = SymmetricLab(1, **settings, mutations=Mutations(**{name: True}))
    try:
        schedule(lab)
    except Stuck:
        pass
    lab.finish_somehow()
    failed = {
        str(error).partition(":")[0] for task in lab.tasks if task.done() and (error := task.exception())
    }
    assert signs & {*lab.broken(), *failed}, (lab.broken(), failed)


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("seed", range(3))
def test_without_it_nobody_is_harmed(name: str, seed: int) -> None:
    schedule, _, settings = SCHEDULES[name]
    lab = SymmetricLab(seed, **settings)
    schedule(lab)
    lab.finish()
    assert {status["state"] for status in lab.invariants.invariants()} == {"green"}, lab.broken()
    assert all(task.exception() is None or "ENOENT" in str(task.exception()) for task in lab.tasks)
