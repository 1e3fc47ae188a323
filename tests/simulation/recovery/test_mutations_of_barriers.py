"""Each seeded bug violates an invariant in its schedule, and the schedule holds without it."""

from __future__ import annotations

import pytest

from nodes.mutations import Mutations
from tests.simulation.recovery.lab import Checkpoints
from tests.simulation.recovery.mutations_of_barriers import SCHEDULES


def lab_for(name: str, seed: int, on: bool) -> Checkpoints:
    return Checkpoints(seed, 2, 1, placement="random", mutations=Mutations(**{name: on}))


@pytest.mark.parametrize("name", SCHEDULES)
def test_with_the_mutation_a_check_fails(name: str) -> None:
    lab = lab_for(name, 0, True)
    with pytest.raises(AssertionError):
        SCHEDULES[name](lab)
    assert lab.invariants.failures


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("seed", range(3))
def test_without_it_everything_holds(name: str, seed: int) -> None:
    SCHEDULES[name](lab_for(name, seed, False))
