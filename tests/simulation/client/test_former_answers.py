"""The past of a client: answers to a former life of its process, and calls from before a recovery."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from nodes.client.files import FileClient
from nodes.client.smart_client import SmartClient
from nodes.metadata.operations import (
    AddBlock,
    Append,
    Complete,
    Create,
    Done,
    Granted,
    List,
    Made,
    Mkdir,
    Open,
    Opened,
    Operation,
    Restamp,
    Stat,
)
from nodes.sim.cluster import SimClient, SimCluster
from nodes.sim.world import SimWorld
from nodes.wire.messages import Checked, Request
from tests.simulation.baselines.lab import lab_of
from tests.simulation.client.test_sessions import names
from tests.simulation.mams.lab import SETTLE_NS, Lab
from tests.simulation.recovery.lab import Checkpoints


def restartable_client(lab: Lab, name: str) -> Callable[[], SimClient]:
    """Adds a client whose process begins a new session each time it starts; returns its present life."""
    lives: list[tuple[SmartClient, FileClient]] = []

    def start(world: SimWorld) -> None:
        smart = SmartClient(world, lab.cluster.config, f"{name}.{len(lives) + 1}")
        lives.append((smart, FileClient(world, lab.cluster.config, smart)))

    lab.cluster.add_process(name, start)
    return lambda: SimClient(lab.cluster, lab.cluster.servers[name], *lives[-1])


def await_message(lab: Lab, matches: Callable[[str, str, Any], bool]) -> None:
    """Waits until such a message is sent."""
    seen: list[bool] = []

    def note(sender: str, receiver: str, message: Any) -> bool:
        if matches(sender, receiver, message):
            seen.append(True)
        return False

    noting = lab.cluster.hold(note)
    lab.cluster.run_until(lambda: bool(seen), SETTLE_NS)
    noting.drop()


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("protocol", ["mams", "2pc"])
def test_an_answer_to_a_former_life_of_a_client_is_not_taken(protocol: str, seed: int) -> None:
    """Both lives number their calls from 1, and the late answer has the number of an open call."""
    lab = lab_of(protocol, seed, standbys=2)
    carl = restartable_client(lab, "carl")
    carl().call(Mkdir("/w"))
    others = [name for name in lab.cluster.view() if name != lab.active]
    for name in others:
        lab.faults.crash(name)
    first = lab.begin(lab.eve, Mkdir("/eve"))
    carl().spawn(Create("/old"))
    await_message(lab, lambda sender, to, message: to == "carl" and type(message) is Checked)
    lab.faults.crash("carl")
    lab.faults.restart("carl")
    carl().call(Stat("/"))
    carl().call(Stat("/"))
    new = carl().spawn(Mkdir("/new"))
    lab.tasks.append(new)
    await_message(lab, lambda sender, to, message: sender == "carl" and type(message) is Request)
    for name in others:
        lab.faults.restart(name)
    lab.cluster.run_until(lambda: first.done() and new.done(), SETTLE_NS)
    assert isinstance(new.result().result, Made)
    assert names(lab) == ["eve", "new", "old", "w"]
    lab.finish()
    assert lab.broken() == {}


def copies_of(cluster: SimCluster, kind: type) -> list[tuple[str, str, Any]]:
    """Copies of ada's requests with this operation, from now on."""
    copies: list[tuple[str, str, Any]] = []

    def note(sender: str, receiver: str, message: Any) -> bool:
        if sender == "ada" and type(message) is Request and type(message.operation) is kind:
            copies.append((sender, receiver, message))
        return False

    cluster.hold(note)
    return copies


def root_of(lab: Checkpoints) -> list[str]:
    return lab.eve.call(List("/")).result.names  # type: ignore[union-attr]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("groups", [1, 2])
def test_a_late_copy_from_before_a_recovery_is_not_carried_out(groups: int, seed: int) -> None:
    """The call was answered then, and the recovery took back its effect and the memory of its answer."""
    lab = Checkpoints(seed, groups=groups)
    lab.ada.call(Mkdir("/a"))
    lab.mark("monday")
    copies = copies_of(lab.cluster, Create)
    lab.ada.call(Create("/f"))
    lab.recover("monday")
    for sender, receiver, copy in list(copies):
        for server in sorted({receiver, lab.active(1)}):
            lab.cluster.net.carry(sender, server, [copy])
    lab.run_ms(2_000)
    assert root_of(lab) == ["a"]
    lab.call(Create("/g"))
    lab.call(Mkdir("/a/h"))
    assert root_of(lab) == ["a", "g"]
    lab.finish()


def calls_in_order(lab: Checkpoints, operations: list[Operation]) -> list[type]:
    return [type(lab.ada.call(operation).result) for operation in operations]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("groups", [1, 2])
def test_a_client_that_writes_a_file_across_a_recovery_goes_on(groups: int, seed: int) -> None:
    """Its next call does not know of the recovery, and is sent again."""
    lab = Checkpoints(seed, groups=groups, placement="random")
    lab.ada.call(Mkdir("/d"))
    lab.ada.call(Create("/d/f"))
    opened = lab.ada.call(Append("/d/f"))
    assert isinstance(opened.result, Opened)
    inode, number = opened.result.inode, opened.number
    granted = lab.ada.call(AddBlock(inode, number)).result
    assert isinstance(granted, Granted)
    block = granted.block.number
    lab.mark("monday")
    lab.recover("monday")
    rest: list[Operation] = [Restamp(inode, number, block), Complete(inode, number, block)]
    assert calls_in_order(lab, rest) == [Granted, Done]
    assert not lab.eve.call(Open("/d/f")).result.writing  # type: ignore[union-attr]
    lab.finish()
