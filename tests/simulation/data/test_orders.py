"""Late orders to remove an excess replica: it has been made again meanwhile, or is the last one."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.metadata.operations import Create, SetReplication
from nodes.sim.network import HeldMessages
from nodes.wire.data_messages import FullReport, HeartbeatAck, Remove
from tests.simulation.data.lab import DataLab, content

DATA = content(0, 50_000)
FILLING = 20
"""Number of other files; each is written to one data node."""


def stored(seed: int, replicas: int) -> tuple[DataLab, str]:
    """A file with so many replicas on three data nodes, and empty files. The path of its block, too."""
    lab = DataLab(seed, 3)
    lab.put("/f", DATA)
    lab.until(lambda: lab.counts() == [3])
    (block,) = lab.replicas()
    set_replication(lab, block, replicas)
    for number in range(FILLING):
        lab.ada.call(Create(f"/g{number}"))
        lab.ada.call(SetReplication(f"/g{number}", 1))
    lab.run_ms(7_000)
    return lab, block


def set_replication(lab: DataLab, block: str, replicas: int) -> None:
    lab.ada.call(SetReplication("/f", replicas))
    lab.until(lambda: len(holders(lab, block)) == replicas)


def holders(lab: DataLab, block: str) -> set[str]:
    return set(lab.replicas().get(block, []))


def used(lab: DataLab, name: str) -> int:
    files = lab.cluster.servers[name].store.files
    return sum(len(file.data) for path, file in files.items() if path.startswith("blocks/"))


def fill(lab: DataLab, others: set[str], name: str) -> None:
    """Writes until each of the others is fuller than this node."""
    for number in range(FILLING):
        if all(used(lab, other) > used(lab, name) for other in others):
            return
        lab.append(f"/g{number}", content(number, 60_000))
    assert all(used(lab, other) > used(lab, name) for other in others)


def hold_orders(lab: DataLab) -> HeldMessages:
    """Holds the orders to remove replicas that the present active sends."""
    active = lab.active
    return lab.cluster.hold(lambda sender, _, message: type(message) is Remove and sender == active)


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_an_order_to_a_former_life_is_void_in_the_next_one(seed: int) -> None:
    """The data node seems to have obeyed: its first heartbeat comes before its full report."""
    lab, block = stored(seed, 2)
    active = lab.active
    held: list[str] = []
    restarted: list[str] = []

    def first(_: str, receiver: str, message: Any) -> bool:
        if type(message) is not Remove or restarted or (held and receiver not in held):
            return False
        held.append(receiver)
        return True

    orders = lab.cluster.hold(first)
    lab.ada.call(SetReplication("/f", 1))
    lab.until(lambda: bool(held))
    ordered = held[0]
    reports = lab.cluster.hold(
        lambda sender, to, message: type(message) is FullReport and (sender, to) == (ordered, active)
    )
    lab.faults.respawn(ordered)
    lab.run_ms(450)
    restarted.append(ordered)
    reports.release()
    fill(lab, holders(lab, block) - {ordered}, ordered)
    lab.run_ms(2_500)
    orders.release()
    lab.run_ms(10_000)
    assert lab.active == active and lab.get("/f") == DATA


@pytest.mark.parametrize("seed", [0, 2])
def test_a_repeated_order_does_not_remove_a_replica_that_was_made_again(seed: int) -> None:
    """It arrives when the replica has been made again and the others have been removed."""
    lab, block = stored(seed, 3)
    active = lab.active
    sent: list[str] = []
    removed: list[str] = []

    def second(_: str, receiver: str, message: Any) -> bool:
        if type(message) is not Remove or removed:
            return False
        sent.append(receiver)
        return sent.count(receiver) > 1

    late = lab.cluster.hold(second)
    # A longer way than a tick: the order is repeated before the active knows that it was obeyed.
    lab.faults.delay(active, None, ms=120, direction="to", others=lab.data_nodes)
    lab.faults.delay(lab.data_nodes, None, ms=120, direction="to", others=[active])
    set_replication(lab, block, 2)
    lab.run_ms(400)
    lab.faults.heal_all()
    lab.run_ms(300)
    removed += sent[:1]
    assert late.messages
    set_replication(lab, block, 3)
    fill(lab, holders(lab, block) - {removed[0]}, removed[0])
    set_replication(lab, block, 1)
    lab.run_ms(200)
    assert holders(lab, block) == set(removed)
    late.release()
    lab.run_ms(10_000)
    assert lab.active == active and lab.get("/f") == DATA


@pytest.mark.parametrize("seed", [0, 3, 4])
def test_an_order_of_the_former_active_is_void_in_a_life_that_knows_no_epoch_yet(seed: int) -> None:
    lab, block = stored(seed, 2)
    old, late = lab.active, hold_orders(lab)
    lab.ada.call(SetReplication("/f", 1))
    lab.until(lambda: bool(late.messages))
    ordered = late.messages[0][1]
    lab.faults.crash(old)
    lab.await_next_active()
    fill(lab, holders(lab, block) - {ordered}, ordered)
    lab.until(lambda: holders(lab, block) == {ordered})
    acks = lab.cluster.hold(lambda _, to, message: type(message) is HeartbeatAck and to == ordered)
    lab.faults.respawn(ordered)
    lab.run_ms(5)
    late.release()
    lab.run_ms(300)
    acks.release()
    lab.run_ms(10_000)
    assert lab.get("/f") == DATA


@pytest.mark.parametrize("seed", [0, 5, 7])
def test_an_order_stays_void_when_the_epoch_of_an_added_server_is_forgotten(seed: int) -> None:
    """The data node is paused for longer than that epoch is remembered, with the former active's order on its way to it."""
    lab, block = stored(seed, 2)
    lab.faults.add_server("g1")
    lab.until(lambda: lab.cluster.view().get("mds5") == "S")
    for name in lab.standbys:
        if name != "mds5":
            lab.faults.pause(name)
    lab.run_ms(15_000)
    late = hold_orders(lab)
    lab.ada.call(SetReplication("/f", 1))
    lab.until(lambda: bool(late.messages))
    ordered = late.messages[0][1]
    fill(lab, holders(lab, block) - {ordered}, ordered)
    lab.faults.take_lock("g1")
    lab.await_next_active()
    assert lab.active == "mds5"
    lab.until(lambda: holders(lab, block) == {ordered})
    lab.faults.pause(ordered)
    late.release()
    lab.run_ms(6_500)
    lab.faults.resume(ordered)
    lab.run_ms(10_000)
    assert lab.get("/f") == DATA
