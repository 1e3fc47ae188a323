"""A data node that finds names after a crash, of which a power loss may undo the last ones: it reports them
when they are durable."""

from __future__ import annotations

import random

import pytest

from nodes.config import MILLISECOND, SECOND
from nodes.metadata.operations import Create, SetReplication
from tests.simulation.data.lab import DataLab, content

DATA = content(0, 50_000)


class Named(random.Random):
    """Draws for a disk: each renaming that a crash interrupts has taken place, and no directory is synced."""

    def random(self) -> float:
        return 0.0


def holders(lab: DataLab, block: str) -> set[str]:
    return set(lab.replicas().get(block, []))


def set_replication(lab: DataLab, block: str, replicas: int) -> None:
    lab.ada.call(SetReplication("/f", replicas))
    lab.until(lambda: len(holders(lab, block)) == replicas)


def crashed_while_it_names_a_copy(seed: int) -> tuple[DataLab, str, str]:
    """A data node crashes when the copy of a file has just got its name there. Its path, and this node."""
    lab = DataLab(seed, 2)
    lab.put("/f", DATA)
    lab.until(lambda: lab.counts() == [2])
    (block,) = lab.replicas()
    lab.run_ms(7_000)
    set_replication(lab, block, 1)
    lab.ada.call(Create("/g"))
    lab.ada.call(SetReplication("/g", 1))
    (node,) = set(lab.data_nodes) - holders(lab, block)
    lab.run_ms(2_000)
    store = lab.cluster.servers[node].store
    store.slow_ns = 30 * MILLISECOND
    lab.ada.call(SetReplication("/f", 2))
    data = block.replace(".rep", ".blk")
    lab.until(lambda: data in store.files and bool(store.unfinished))
    store.crash(Named())
    lab.faults.crash(node)
    store.slow_ns = 0
    assert block in store.files
    return lab, block, node


@pytest.mark.parametrize("seed", range(3))
def test_a_found_replica_counts_only_when_its_name_survives_a_power_loss(seed: int) -> None:
    """With it, the other replica is excess."""
    lab, block, node = crashed_while_it_names_a_copy(seed)
    lab.append("/g", content(1, 60_000))
    lab.faults.restart(node)
    set_replication(lab, block, 2)
    lab.run_ms(1_000)
    set_replication(lab, block, 1)
    assert holders(lab, block) == {node}
    lab.run_ms(3_000)
    lab.faults.power_loss(node, torn="nothing")
    lab.faults.restart(node)
    lab.run_ms(15_000)
    assert lab.get("/f") == DATA


def test_a_slow_full_disk_that_fails_for_a_while_does_not_stop_the_reports_for_ever() -> None:
    lab = DataLab(1, 3)
    lab.put("/f", DATA)
    lab.until(lambda: lab.counts() == [3])
    lab.run_ms(7_000)
    for node in lab.data_nodes:
        lab.faults.crash(node)
    for node in lab.data_nodes:
        lab.faults.slow_disk(node, 2_000)
        lab.faults.fill_disk(node, 0)
        lab.faults.fail_disk(node, what="sync", times=2)
        lab.faults.restart(node)
    reading = lab.begin_get("/f")
    lab.until(reading.done, 30 * SECOND)
    assert reading.result() == DATA
