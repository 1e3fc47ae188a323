"""Each known bug is seen by a check in its schedule, and the schedule is quiet without it."""

from __future__ import annotations

import pytest

from nodes.mutations import Mutations
from tests.simulation.dcfs2.lab import Groups
from tests.simulation.dcfs2.mutations import SCHEDULES


def run(name: str, seed: int, on: bool) -> tuple[Groups, str]:
    """The group of checks, and what failed first; empty when nothing did."""
    lab = Groups(seed, 2, 1, placement="random", mutations=Mutations(**{name: on}))
    try:
        SCHEDULES[name](lab)
    except AssertionError as error:
        return lab, str(error) or "an assertion of the schedule"
    return lab, ""


@pytest.mark.parametrize("name", SCHEDULES)
def test_with_the_mutation_a_check_fails(name: str) -> None:
    lab, trouble = run(name, 0, True)
    assert trouble
    assert lab.lamps.failures, trouble


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("seed", range(3))
def test_without_it_everything_holds(name: str, seed: int) -> None:
    _, trouble = run(name, seed, False)
    assert not trouble
