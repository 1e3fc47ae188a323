"""Who may still answer reads is outlived, however many were elected since (safety rule 16)."""

from __future__ import annotations

import pytest

from nodes.coordination.operations import Delete
from nodes.coordination.tree import OPERATOR
from nodes.metadata.operations import Mkdir, Stat
from nodes.trace.events import StepTaken
from tests.simulation.mams.lab import Lab


def elected(lab: Lab, epoch: int) -> bool:
    """Whether somebody has written this epoch into the view."""
    steps = [stamped.event for stamped in lab.cluster.events if type(stamped.event) is StepTaken]
    return any((each.procedure, each.step, each.epoch) == ("upgrade", "2", epoch) for each in steps)


@pytest.mark.parametrize("seed", range(4))
def test_an_elected_that_never_served_does_not_hide_the_active_before_it(seed: int) -> None:
    """The lock is taken twice: the second elected knows only the first as the active, while the one before still answers reads."""
    lab = Lab(seed)
    lab.ada.call(Mkdir("/a"))
    lab.eve.call(Stat("/a"))
    old, cluster = lab.active, lab.cluster
    cluster.hold_watch(old)
    for name in [*lab.standbys, "ada"]:
        lab.faults.cut(old, name)
    lab.faults.take_lock("g1")
    cluster.run_until(lambda: elected(lab, 2))
    cluster.ensemble.submit(OPERATOR, Delete("/cloverlab/groups/g1/lock"))
    cluster.run_until(lambda: elected(lab, 3))
    lab.begin(lab.ada, Mkdir("/new"))
    for _ in range(30):
        lab.run_ms(100)
        lab.begin_and_wait(lab.eve, Stat("/new"))
    lab.finish()
    assert lab.broken() == {}
    assert all(task.exception() is None or "ENOENT" in str(task.exception()) for task in lab.tasks)
