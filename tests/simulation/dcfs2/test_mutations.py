"""Each seeded bug violates an invariant in its schedule, and the schedule holds without it."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Mkdir
from nodes.mutations import Mutations
from nodes.trace.events import JournalOpened
from tests.simulation.dcfs2.lab import Groups
from tests.simulation.dcfs2.mutations import SCHEDULES


def run(name: str, seed: int, on: bool) -> tuple[Groups, str]:
    """The lab, and the first violation; empty without one."""
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
    assert lab.invariants.failures, trouble


def test_a_namespace_that_was_read_from_an_image_has_the_bug_too() -> None:
    lab = Groups(0, 2, 1, placement="random", image_every=4, mutations=Mutations(undo_forgotten=True))
    for number in range(12):
        lab.ada.call(Mkdir(f"/before{number}"))
    lab.cluster.run_for(5 * SECOND)
    names = [*lab.servers(1), *lab.servers(2)]
    for name in names:
        lab.cluster.faults.crash(name)
    for name in names:
        lab.cluster.faults.restart(name)
    lab.cluster.run_for(10 * SECOND)
    lab.settle()
    opened = {s.server: s.event for s in lab.cluster.events if type(s.event) is JournalOpened}
    assert all(opened[name].image_sn for name in names)
    with pytest.raises(AssertionError):
        SCHEDULES["undo_forgotten"](lab)


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("seed", range(3))
def test_without_it_everything_holds(name: str, seed: int) -> None:
    _, trouble = run(name, seed, False)
    assert not trouble
