"""Each hole of this family: open, an invariant is violated; closed, the same schedule holds."""

from __future__ import annotations

import pytest

from tests.simulation.paxos.lab import Lab
from tests.simulation.paxos.schedules import SCHEDULES


@pytest.mark.parametrize("hole", SCHEDULES)
def test_an_open_hole_is_found(hole: str) -> None:
    schedule, invariants = SCHEDULES[hole]
    lab = Lab(2, hole)
    schedule(lab)
    lab.finish_somehow()
    assert invariants & set(lab.broken()), lab.invariants.invariants()


@pytest.mark.parametrize("hole", SCHEDULES)
@pytest.mark.parametrize("seed", range(2))
def test_closed_it_harms_nobody(hole: str, seed: int) -> None:
    schedule, _ = SCHEDULES[hole]
    lab = Lab(seed)
    schedule(lab)
    lab.finish()
    assert {status["state"] for status in lab.invariants.invariants()} == {"green"}, (
        lab.invariants.invariants()
    )
    assert all(task.exception() is None or "ENOENT" in str(task.exception()) for task in lab.tasks)
