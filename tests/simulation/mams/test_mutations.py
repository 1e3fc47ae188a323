"""Each known bug: switched on, a check turns red; off, the same schedule harms nobody."""

from __future__ import annotations

import pytest

from nodes.mutations import Mutations
from nodes.sim.loop import Stuck
from tests.simulation.mams.lab import Lab
from tests.simulation.mams.mutations import SCHEDULES

SEEDS = 3


def lab_with(mutation: str, seed: int, standbys: int) -> Lab:
    return Lab(seed, standbys=standbys, mutations=Mutations(**{mutation: True}))


@pytest.mark.parametrize("mutation", SCHEDULES)
@pytest.mark.parametrize("seed", range(SEEDS))
def test_switched_on_a_check_turns_red(mutation: str, seed: int) -> None:
    schedule, standbys, checks = SCHEDULES[mutation]
    lab = lab_with(mutation, seed, standbys)
    try:
        schedule(lab)
    except Stuck:
        pass
    lab.finish_somehow()
    assert checks & set(lab.broken()), lab.broken()


@pytest.mark.parametrize("mutation", SCHEDULES)
@pytest.mark.parametrize("seed", range(SEEDS))
def test_switched_off_it_harms_nobody(mutation: str, seed: int) -> None:
    schedule, standbys, _ = SCHEDULES[mutation]
    lab = Lab(seed, standbys=standbys)
    schedule(lab)
    lab.finish()
    assert lab.broken() == {}
    assert {lamp["state"] for lamp in lab.lamps.lamps()} == {"green"}
