"""Commands on checkpoints whose answers from coordination are late or lost: what they say is what happened, and nothing stays half done."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from nodes.config import SECOND
from nodes.errors import FsError
from nodes.metadata.operations import Create, Mkdir, Stat
from nodes.metadata_server.checkpoints.ledger import ROOT
from nodes.replicas.view import INCARNATION
from nodes.sim.coordination import HeldWrites
from nodes.sim.ensemble import COORDINATION
from nodes.world import Change, CreateNode
from tests.simulation.recovery.lab import Checkpoints

AWAY_MS = 300
"""Time without coordination, longer than a server takes to read again, and shorter than a session."""


def marked(seed: int) -> Checkpoints:
    lab = Checkpoints(seed, 2, 2, placement="random")
    lab.fill("a", 3)
    lab.mark("one")
    lab.run_ms(1_000)
    return lab


def goes_on(lab: Checkpoints) -> None:
    lab.fill("after", 2)
    lab.finish()


@pytest.mark.parametrize("far", [3, 2])
@pytest.mark.parametrize("how", ["cut", "slow"])
@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_acknowledged_after_the_answer_to_recover_stays(seed: int, how: str, far: int) -> None:
    """The second group learns late of the recovery: its active would answer under its lease. Or only one of its standbys learns of it at once, and
    begins an epoch."""
    lab = marked(seed)
    for number in range(3):
        lab.eve.call(Create(f"/a/d{number}/known"))
    active = lab.active(2)
    standbys = [name for name in lab.servers(2) if name != active]
    for name in [active, *standbys][:far]:
        if far == 2:
            lab.cluster.faults.delay(name, standbys[-1], ms=50)
        if how == "cut":
            lab.cluster.faults.cut(name, COORDINATION)
        else:
            lab.cluster.faults.delay(name, COORDINATION, ms=50)
    assert lab.ask({"do": "recover", "name": "one", "waits": True}, lab.active(1)).get("checkpoint") == "one"
    calls = {}
    for number in range(12):
        path = f"/a/d{number % 3}/x{number}"
        calls[path] = lab.eve.spawn(Create(path))
        lab.run_ms(10)
    lab.run_ms(500)
    written = [path for path, call in calls.items() if call.done() and call.exception() is None]
    lab.cluster.faults.heal_all()
    lab.settle()
    assert [path for path in written if not is_there(lab, path)] == []
    goes_on(lab)


def is_there(lab: Checkpoints, path: str) -> bool:
    try:
        lab.eve.call(Stat(path), 60 * SECOND)
    except FsError:
        return False
    return True


def lose_answer(lab: Checkpoints, server: str, held: HeldWrites) -> None:
    """The held write lands; before its answer leaves, the coordination service is away for a while."""
    lab.cluster.run_until(lambda: bool(held.held), 10 * SECOND)
    held.release()
    lab.cluster.faults.crash(COORDINATION)
    lab.run_ms(AWAY_MS)
    lab.cluster.faults.restart(COORDINATION)


def returned(lab: Checkpoints, task: asyncio.Task[Any]) -> Any:
    """What the command has answered, once every server is connected again and every group serves."""
    clients = [lab.cluster.coordination_of(name) for name in lab.cluster.view()]
    lab.cluster.run_until(
        lambda: task.done() and all(each.state == "connected" for each in clients), 60 * SECOND
    )
    lab.settle()
    return task.result()


@pytest.mark.parametrize("seed", [1, 2])
def test_recover_says_that_the_cluster_went_back_though_the_answer_of_coordination_was_lost(
    seed: int,
) -> None:
    """A person who is asked to try again goes back a second time, and loses what was acknowledged since."""
    lab = marked(seed)
    asked = lab.active(1)

    def goes_back(changes: list[Change]) -> bool:
        return any(each.path == INCARNATION for each in changes)

    held = lab.cluster.hold_write(asked, goes_back)
    task = lab.begin({"do": "recover", "name": "one"}, asked)
    lose_answer(lab, asked, held)
    assert returned(lab, task) == {"incarnation": 1, "checkpoint": "one"}
    lab.call(Mkdir("/since"))
    assert lab.ask({"do": "checkpoints"})["incarnation"] == 1
    goes_on(lab)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_checkpoint_whose_beginning_was_not_known_to_have_landed_is_void_and_blocks_no_command(
    seed: int,
) -> None:
    lab = marked(seed)

    def begins(changes: list[Change]) -> bool:
        return any(isinstance(each, CreateNode) and each.path == f"{ROOT}/two" for each in changes)

    actives = [lab.active(1), lab.active(2)]
    held = {name: lab.cluster.hold_write(name, begins) for name in actives}
    task = lab.begin_mark("two", lab.active(1))
    lab.cluster.run_until(lambda: any(each.held for each in held.values()), 10 * SECOND)
    server = next(name for name in actives if held[name].held)
    lose_answer(lab, server, held[server])
    answer = returned(lab, task)
    assert lab.states() == {"one": "complete", "two": "void"}, answer
    lab.mark("three")
    lab.recover("one")
    goes_on(lab)
