"""Each seeded bug of the Paxos families violates an invariant in its schedule; without it the same schedule holds."""

from __future__ import annotations

import pytest

from nodes.mutations import NO_MUTATIONS, Mutations
from tests.simulation.paxos.lab import Lab
from tests.simulation.paxos.mutations import SCHEDULES

SEEDS = (1, 2, 3)
PROTOCOLS = ("packed-paxos", "multi-paxos")


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", SCHEDULES)
def test_with_it_a_check_fails(name: str, protocol: str, seed: int) -> None:
    lab = Lab(seed, protocol=protocol, mutations=Mutations(**{name: True}))
    SCHEDULES[name](lab)
    assert lab.broken()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", SCHEDULES)
def test_without_it_everything_holds(name: str, protocol: str, seed: int) -> None:
    lab = Lab(seed, protocol=protocol, mutations=NO_MUTATIONS)
    SCHEDULES[name](lab)
    assert lab.broken() == {} and all(task.exception() is None for task in lab.tasks)
