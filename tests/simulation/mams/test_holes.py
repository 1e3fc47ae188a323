"""Each hole of the papers: open, a check fires; closed, the same schedule harms nobody."""

from __future__ import annotations

import pytest

from nodes.config import Holes
from nodes.sim.loop import Stuck
from tests.simulation.mams.lab import Lab
from tests.simulation.mams.schedules import SCHEDULES

SEEDS = 30


def test_every_hole_has_its_schedule() -> None:
    assert set(SCHEDULES) == set(Holes.__struct_fields__)


@pytest.mark.parametrize("hole", SCHEDULES)
def test_an_open_hole_is_found_by_a_seed_search(hole: str) -> None:
    schedule, standbys, lamps = SCHEDULES[hole]
    for seed in range(SEEDS):
        lab = Lab(seed, hole, standbys=standbys)
        try:
            schedule(lab)
        except Stuck:
            continue
        lab.finish_somehow()
        if lamps & set(lab.broken()):
            print(f"{hole}: seed {seed}: {lab.broken()}")
            return
    pytest.fail(f"no seed of {SEEDS} shows {hole}")


@pytest.mark.parametrize("hole", SCHEDULES)
@pytest.mark.parametrize("seed", range(3))
def test_closed_it_harms_nobody(hole: str, seed: int) -> None:
    schedule, standbys, _ = SCHEDULES[hole]
    lab = Lab(seed, standbys=standbys)
    try:
        schedule(lab)
    except Stuck:
        pass
    lab.finish()
    assert lab.broken() == {}
    assert all(task.exception() is None or "ENOENT" in str(task.exception()) for task in lab.tasks)
