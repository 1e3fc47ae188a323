"""Each mistake: with it a check fires, without it the same schedule harms nobody."""

from __future__ import annotations

import pytest

from nodes.mutations import Mutations
from nodes.sim.loop import Stuck
from tests.simulation.symmetric.lab import SymmetricLab
from tests.simulation.symmetric.mutations import SCHEDULES


@pytest.mark.parametrize("name", SCHEDULES)
def test_with_the_mistake_a_check_fires(name: str) -> None:
    schedule, lamps, timing = SCHEDULES[name]
    lab = SymmetricLab(1, timing=timing, mutations=Mutations(**{name: True}))
    try:
        schedule(lab)
    except Stuck:
        pass
    lab.finish_somehow()
    assert lamps & set(lab.broken()), lab.broken()


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("seed", range(3))
def test_without_it_nobody_is_harmed(name: str, seed: int) -> None:
    schedule, _, timing = SCHEDULES[name]
    lab = SymmetricLab(seed, timing=timing)
    schedule(lab)
    lab.finish()
    assert {lamp["state"] for lamp in lab.lamps.lamps()} == {"green"}, lab.broken()
    assert all(task.exception() is None or "ENOENT" in str(task.exception()) for task in lab.tasks)
