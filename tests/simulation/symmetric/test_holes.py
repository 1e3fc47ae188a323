"""Each hole of the paper: open, an invariant is violated; closed, the same schedule holds."""

from __future__ import annotations

import pytest

from nodes.sim.loop import Stuck
from tests.simulation.symmetric.lab import SymmetricLab
from tests.simulation.symmetric.schedules import SCHEDULES

SEEDS = 5


@pytest.mark.parametrize("hole", SCHEDULES)
def test_an_open_hole_is_found(hole: str) -> None:
    schedule, members, invariants, words = SCHEDULES[hole]
    for seed in range(SEEDS):
        lab = SymmetricLab(seed, hole, members=members)
        try:
            schedule(lab)
        except Stuck:
            continue
        lab.finish_somehow()
        if invariants & set(lab.broken()):
            assert any(words in line for line in lab.broken().values()), lab.broken()
            return
    pytest.fail(f"no seed of {SEEDS} shows {hole}")


@pytest.mark.parametrize("hole", SCHEDULES)
@pytest.mark.parametrize("seed", range(2))
def test_closed_it_harms_nobody(hole: str, seed: int) -> None:
    schedule, members, _, _ = SCHEDULES[hole]
    lab = SymmetricLab(seed, members=members)
    schedule(lab)
    lab.finish()
    assert {status["state"] for status in lab.invariants.invariants()} == {"green"}
    assert all(task.exception() is None or "ENOENT" in str(task.exception()) for task in lab.tasks)
