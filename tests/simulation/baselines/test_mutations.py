"""Each seeded bug of the baselines is found by its schedule; without it the same schedule holds."""

from __future__ import annotations

import pytest

from nodes.mutations import NO_MUTATIONS, Mutations
from tests.simulation.baselines.mutations import SCHEDULES

SEEDS = (1, 2, 3)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", SCHEDULES)
def test_with_it_something_is_lost(name: str, seed: int) -> None:
    lab = SCHEDULES[name](seed, Mutations(**{name: True}))
    assert "no lost write" in lab.broken()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", SCHEDULES)
def test_without_it_everything_holds(name: str, seed: int) -> None:
    assert SCHEDULES[name](seed, NO_MUTATIONS).broken() == {}
