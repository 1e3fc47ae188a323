"""Clusters whose groups share journals go back to a checkpoint, whoever was away meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import SECOND
from nodes.errors import FsError
from nodes.metadata.operations import Mkdir, Stat
from nodes.trace.checkpoints import TakenBack
from tests.simulation.baselines.lab import lab_of
from tests.simulation.mams.lab import Lab

every_family = pytest.mark.parametrize("protocol", ["qjm", "hadoop-ha", "bookkeeper", "avatar"])


def ask(lab: Lab, **question: object) -> Any:
    task = lab.cluster.begin_asking(lab.active, question)
    lab.cluster.run_until(task.done)
    return task.result()


def marked(protocol: str, seed: int = 1) -> Lab:
    """A checkpoint k1 with /kept before it and /gone behind it."""
    lab = lab_of(protocol, seed)
    lab.ada.call(Mkdir("/kept"))
    assert ask(lab, do="mark_checkpoint", name="k1")["checkpoint"]["state"] == "complete"
    lab.ada.call(Mkdir("/gone"))
    lab.cluster.run_for(3 * SECOND)
    return lab


def go_back(lab: Lab) -> None:
    assert ask(lab, do="recover", name="k1")["incarnation"] == 1


def is_gone(lab: Lab) -> None:
    with pytest.raises(FsError, match="ENOENT"):
        lab.eve.call(Stat("/gone"))


def is_back(lab: Lab) -> None:
    lab.finish()
    assert lab.eve.call(Stat("/kept")).error == ""
    is_gone(lab)
    assert lab.broken() == {}


@every_family
def test_what_came_after_the_checkpoint_is_set_aside(protocol: str) -> None:
    lab = marked(protocol)
    go_back(lab)
    is_back(lab)
    told = [each.event for each in lab.cluster.events if type(each.event) is TakenBack]
    assert len(told) == 2 and max(each.operations for each in told) == 1
    lab.eve.call(Mkdir("/new"))
    lab.faults.crash(lab.active)
    lab.await_next_active()
    assert lab.eve.call(Stat("/new")).error == ""
    is_gone(lab)


@pytest.mark.parametrize("protocol", ["qjm", "hadoop-ha"])
def test_a_journal_node_that_was_away_does_not_bring_it_back(protocol: str) -> None:
    lab = marked(protocol)
    lab.faults.crash("jn1")
    go_back(lab)
    lab.await_next_active()
    lab.eve.call(Mkdir("/new"))
    lab.faults.restart("jn1")
    lab.cluster.run_for(2 * SECOND)
    lab.faults.crash("jn2")
    lab.faults.crash(lab.active)
    lab.cluster.run_for(20 * SECOND)
    for name in ("jn2", *(name for name, each in lab.cluster.servers.items() if each.process == "stopped")):
        if lab.cluster.servers[name].process == "stopped":
            lab.faults.restart(name)
    is_back(lab)
    assert lab.eve.call(Stat("/new")).error == ""


@every_family
def test_after_power_loss_of_all_while_it_goes_back(protocol: str) -> None:
    lab = marked(protocol)
    names = [*lab.cluster.view(), *lab.cluster.config.journal.nodes]
    go_back(lab)
    lab.run_ms(30)
    for name in names:
        lab.faults.power_loss(name)
    lab.run_ms(6_000)
    for name in names:
        lab.faults.restart(name)
    is_back(lab)
