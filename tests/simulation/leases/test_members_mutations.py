"""Each seeded bug about the members' leases: switched on, a read is stale; off, the same schedule holds (safety rule 26)."""

from __future__ import annotations

import pytest

from nodes.mutations import NO_MUTATIONS
from tests.simulation.leases.members import SCHEDULES, switched

SEEDS = 3
CHECKS = {"linearisable", "one active"}


@pytest.mark.parametrize("name", SCHEDULES)
def test_switched_on_a_read_is_stale(name: str) -> None:
    broken = [set(SCHEDULES[name](seed, switched(name)).broken()) for seed in range(SEEDS)]
    assert any(CHECKS & each for each in broken), f"{name} harms nobody"


@pytest.mark.parametrize("name", SCHEDULES)
def test_switched_off_it_harms_nobody(name: str) -> None:
    for seed in range(SEEDS):
        assert SCHEDULES[name](seed, NO_MUTATIONS).broken() == {}, seed
