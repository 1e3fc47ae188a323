"""Each hole of this family: open, a check fires; closed, the same schedule harms nobody."""

from __future__ import annotations

import pytest

from tests.simulation.paxos.lab import Lab
from tests.simulation.paxos.schedules import SCHEDULES


@pytest.mark.parametrize("hole", SCHEDULES)
def test_an_open_hole_is_found(hole: str) -> None:
    schedule, lamps = SCHEDULES[hole]
    lab = Lab(2, hole)
    schedule(lab)
    lab.finish_somehow()
    assert lamps & set(lab.broken()), lab.lamps.lamps()


@pytest.mark.parametrize("hole", SCHEDULES)
@pytest.mark.parametrize("seed", range(2))
def test_closed_it_harms_nobody(hole: str, seed: int) -> None:
    schedule, _ = SCHEDULES[hole]
    lab = Lab(seed)
    schedule(lab)
    lab.finish()
    assert {lamp["state"] for lamp in lab.lamps.lamps()} == {"green"}, lab.lamps.lamps()
    assert all(task.exception() is None or "ENOENT" in str(task.exception()) for task in lab.tasks)
