"""Each seeded bug: switched on, an invariant is violated; off, the same schedule holds."""

from __future__ import annotations

import pytest

from nodes.mutations import Mutations
from nodes.sim.loop import Stuck
from tests.simulation.mams.lab import Lab
from tests.simulation.mams.mutations import SCHEDULES, SETTLES, Schedule

SEEDS = 3


def lab_with(mutation: str, seed: int, standbys: int) -> Lab:
    return Lab(seed, standbys=standbys, mutations=Mutations(**{mutation: True}))


@pytest.mark.parametrize("mutation", SCHEDULES)
@pytest.mark.parametrize("seed", range(SEEDS))
def test_switched_on_a_check_turns_red(mutation: str, seed: int) -> None:
    schedule, standbys, checks = SCHEDULES[mutation]
    lab = lab_with(mutation, seed, standbys)
    assert checks & broken_by(lab, schedule), lab.broken()


def broken_by(lab: Lab, schedule: Schedule) -> set[str]:
    """The invariants that the schedule violates."""
    stuck: set[str] = set()
    for part in (lambda: schedule(lab), lab.finish):
        try:
            part()
        except Stuck:
            stuck.add(SETTLES)
    lab.invariants.finish()
    return {*lab.broken(), *stuck}


@pytest.mark.parametrize("mutation", SCHEDULES)
@pytest.mark.parametrize("seed", range(SEEDS))
def test_switched_off_it_harms_nobody(mutation: str, seed: int) -> None:
    schedule, standbys, _ = SCHEDULES[mutation]
    lab = Lab(seed, standbys=standbys)
    schedule(lab)
    lab.finish()
    assert lab.broken() == {}
