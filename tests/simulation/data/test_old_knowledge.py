"""An active that knows replicas of the past: reports are missing, or it has lost its lease while orders are
on their way. The last replica stays."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.metadata.operations import Create, SetReplication
from nodes.trace.lease_events import LeaseLost
from nodes.wire.data_messages import Changes, FullReport, HeartbeatAck, Remove
from tests.simulation.data.lab import DataLab, content

DATA = content(0, 50_000)


def stored(seed: int) -> DataLab:
    """One file of one block, with a replica on each of three data nodes; removals are allowed."""
    lab = DataLab(seed, 3)
    lab.put("/f", DATA)
    lab.until(lambda: lab.counts() == [3])
    lab.run_ms(7_000)
    return lab


def holders(lab: DataLab) -> set[str]:
    """Data nodes with a replica of any block."""
    return {name for names in lab.replicas().values() for name in names}


def set_replication(lab: DataLab, replicas: int) -> None:
    lab.ada.call(SetReplication("/f", replicas))
    lab.until(lambda: len(holders(lab)) == replicas)


@pytest.mark.parametrize("seed", range(2))
def test_what_a_heartbeat_says_to_be_old_is_no_reason_to_remove_a_replica(seed: int) -> None:
    """Reports reach the standbys late, heartbeats do not: the next active knows that it lacks reports."""
    lab = stored(seed)
    old = lab.active
    late = lab.cluster.hold(lambda _, to, message: type(message) in (FullReport, Changes) and to != old)
    set_replication(lab, 1)
    lab.run_ms(500)
    lab.faults.crash(old)
    lab.await_next_active()
    lab.run_ms(4_000)
    assert late.messages
    late.release()
    lab.run_ms(10_000)
    assert lab.get("/f") == DATA


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_removal_is_known_before_the_next_one_though_links_lose_its_report(seed: int) -> None:
    lab = stored(seed)
    old, standbys = lab.active, lab.standbys
    lab.faults.cut(lab.data_nodes, direction="to", others=standbys)
    lab.run_ms(500)
    set_replication(lab, 1)
    lab.faults.crash(old)
    lab.await_next_active()
    lab.faults.heal_all()
    lab.faults.lose(lab.data_nodes, share=0.5, direction="to", others=standbys)
    lab.run_ms(4_000)
    lab.faults.heal_all()
    lab.run_ms(10_000)
    assert lab.get("/f") == DATA


@pytest.mark.parametrize("seed", range(2))
def test_a_heartbeat_of_the_next_epoch_stands_for_all_removals_before_it(seed: int) -> None:
    """The former active's order is obeyed just before the next one is known; the report of it is late."""
    lab = stored(seed)
    set_replication(lab, 2)
    lab.run_ms(2_000)
    old = lab.active
    orders = lab.cluster.hold(lambda sender, _, message: type(message) is Remove and sender == old)
    lab.ada.call(SetReplication("/f", 1))
    lab.until(lambda: bool(orders.messages))
    ordered = orders.messages[0][1]
    acks = lab.cluster.hold(lambda _, to, message: type(message) is HeartbeatAck and to == ordered)
    lab.faults.crash(old)
    lab.await_next_active()
    lab.put("/g", content(1, 60_000))
    lab.run_ms(3_000)
    kinds = (Changes, FullReport)
    reports = lab.cluster.hold(lambda sender, _, message: type(message) in kinds and sender == ordered)
    orders.release()
    lab.run_ms(5)
    acks.release()
    lab.run_ms(600)
    assert reports.messages
    reports.release()
    lab.run_ms(10_000)
    assert lab.get("/f") == DATA


@pytest.mark.parametrize("seed", [1, 3, 4])
def test_orders_that_are_on_their_way_while_the_lease_is_lost_are_not_forgotten(seed: int) -> None:
    """The active serves again in their epoch; by then other writing has changed which node is the fullest."""
    lab = DataLab(seed, 4)
    data = content(0, 300_000)
    lab.put("/f", data)
    lab.until(lambda: set(lab.counts()) == {3})
    for number in range(3):
        lab.ada.call(Create(f"/g{number}"))
        lab.ada.call(SetReplication(f"/g{number}", 1))
    lab.run_ms(7_000)
    active, ordered = lab.active, []

    def seen(_: str, receiver: str, message: Any) -> bool:
        if type(message) is Remove:
            ordered.append(receiver)
        return False

    lab.cluster.hold(seen)
    for name in lab.data_nodes:
        lab.faults.delay(active, name, ms=3_000, direction="to")
    lab.faults.cut(active, "coordination")
    lab.run_ms(100)
    lab.ada.call(SetReplication("/f", 1))
    lab.until(lambda: bool(ordered))
    for number in range(3):
        lab.append(f"/g{number}", content(number, 100_000))
    lab.until(lambda: any(type(each.event) is LeaseLost for each in lab.cluster.events))
    lab.run_ms(250)
    lab.faults.heal(active, "coordination")
    lab.run_ms(12_000)
    lab.faults.heal_all()
    lab.run_ms(5_000)
    assert lab.active == active and lab.get("/f") == data
