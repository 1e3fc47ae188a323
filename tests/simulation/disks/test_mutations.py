"""Each known bug of disks: switched on, a check turns red; off, the same schedule harms nobody."""

from __future__ import annotations

import pytest

from nodes.mutations import Mutations
from tests.simulation.disks.mutations import SCHEDULES
from tests.simulation.mams.lab import Lab

SEEDS = 3


@pytest.mark.parametrize("mutation", SCHEDULES)
@pytest.mark.parametrize("seed", range(SEEDS))
def test_switched_on_a_check_turns_red(mutation: str, seed: int) -> None:
    schedule, standbys, checks = SCHEDULES[mutation]
    lab = Lab(seed, standbys=standbys, mutations=Mutations(**{mutation: True}))
    schedule(lab)
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
