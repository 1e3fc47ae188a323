"""Orders to remove excess replicas that take long, and reports of a data node's former life: the last replica stays."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.errors import FsError
from nodes.metadata.operations import SetReplication
from nodes.mutations import Mutations
from nodes.wire.data_messages import Changes, FullReport, Heartbeat
from tests.simulation.data.lab import LABS, DataLab, content


def holds(lab: DataLab, replicas: int) -> bool:
    return set(lab.counts()) == {replicas}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("late_ms", [500, 1_500])
def test_no_other_replica_is_removed_while_an_order_is_on_its_way(seed: int, late_ms: int) -> None:
    """Other writing changes which node is the fullest: one after the other was ordered to remove its replica."""
    assert orders_on_their_way(seed, late_ms, Mutations())


def test_orders_that_are_forgotten_are_seen() -> None:
    assert not orders_on_their_way(0, 500, Mutations(excess_orders_forgotten=True))
    LABS.clear()


def orders_on_their_way(seed: int, late_ms: int, mutations: Mutations) -> bool:
    """Whether the file is still there."""
    lab = DataLab(seed, 4, mutations=mutations)
    data = content(0, 300_000)
    lab.put("/f", data)
    lab.until(lambda: holds(lab, 3))
    lab.run_ms(7_000)
    for name in lab.data_nodes:
        lab.faults.delay(lab.active, name, ms=late_ms)
    lab.run_ms(2_000)
    lab.begin(lab.ada, SetReplication("/f", 1))
    for number in range(4):
        lab.run_ms(300)
        lab.begin_put(f"/g{number}", content(number, 200_000))
    lab.run_ms(15_000)
    lab.faults.heal_all()
    lab.run_ms(15_000)
    return is_whole(lab, data)


def is_whole(lab: DataLab, data: bytes) -> bool:
    try:
        return lab.get("/f") == data
    except FsError:
        return False


@pytest.mark.parametrize("silence", ["pause", "crash"])
def test_reports_of_a_former_life_count_no_more(silence: str) -> None:
    """They name a replica that was removed since; with it the only one would be excess, while the new life is silent."""
    assert reports_of_a_former_life(silence, Mutations(), early=False)
    assert reports_of_a_former_life(silence, Mutations(), early=True)


def test_reports_of_a_former_life_that_are_believed_are_seen() -> None:
    assert not reports_of_a_former_life("pause", Mutations(former_lives_believed=True), early=True)
    LABS.clear()


def reports_of_a_former_life(silence: str, mutations: Mutations, early: bool) -> bool:
    """Whether the file is still there. `early`: only reports from before the removal arrive late."""
    lab = DataLab(0, 3, mutations=mutations)
    data = content(0, 300_000)
    lab.put("/f", data)
    lab.until(lambda: holds(lab, 3))
    lab.run_ms(7_000)
    late: dict[str, list[tuple[str, str, Any]]] = {name: [] for name in lab.data_nodes}

    def copied(sender: str, receiver: str, message: Any) -> bool:
        reports = type(message) in (Heartbeat, FullReport, Changes) and not getattr(message, "removed", [])
        if reports and receiver == lab.active and sender in late:
            late[sender].append((sender, receiver, message))
        return False

    lab.cluster.hold(copied)
    for name in lab.data_nodes:
        lab.faults.respawn(name)
    lab.run_ms(2_500)
    before = {name: len(messages) for name, messages in late.items()}
    lab.ada.call(SetReplication("/f", 1))
    lab.until(lambda: holds(lab, 1))
    lab.run_ms(3_000)
    left = {name for names in lab.replicas().values() for name in names}
    ghost = next(name for name in lab.data_nodes if name not in left)
    reports = late[ghost][: before[ghost] if early else None]
    lab.put("/g", content(1, 400_000))
    lab.run_ms(2_500)
    lab.faults.respawn(ghost)
    lab.run_ms(300)
    lab.faults.do(silence, [ghost])
    lab.run_ms(100)
    for report in reports:
        lab.deliver(report)
    lab.run_ms(4_000)
    lab.faults.do({"pause": "resume", "crash": "restart"}[silence], [ghost])
    lab.run_ms(15_000)
    return is_whole(lab, data)
