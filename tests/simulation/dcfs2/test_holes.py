"""Rules 11 and 12: with the hole open an invariant is violated, with it closed the same schedule holds."""

from __future__ import annotations

import pytest

from nodes.config import Holes
from tests.simulation.dcfs2.lab import Groups
from tests.simulation.dcfs2.schedules import SCHEDULES


@pytest.mark.parametrize("name", SCHEDULES)
def test_an_open_hole_is_found(name: str) -> None:
    schedule, hole, complaint = SCHEDULES[name]
    lab = Groups(1, 2, 1, placement="random", holes=Holes(**{hole: True}))
    schedule(lab)
    with pytest.raises(AssertionError, match=complaint):
        lab.finish()


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("seed", range(3))
def test_closed_it_harms_nobody(name: str, seed: int) -> None:
    schedule, _, _ = SCHEDULES[name]
    lab = Groups(seed, 2, 1, placement="random")
    schedule(lab)
    lab.finish()
    lab.all_returned()
