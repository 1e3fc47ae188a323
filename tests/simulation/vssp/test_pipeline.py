"""Images through the pipeline: whole on every node, with nodes that die and links that lose and duplicate."""

from __future__ import annotations

import pytest

from nodes.config import MILLISECOND, SECOND
from nodes.trace.pool_events import (
    ImageShelved,
    ImageWritten,
    PacketRefused,
)
from nodes.wire.messages import Mark
from tests.simulation.vssp.lab import PoolLab, partitions_of

STRATEGIES = ("vssp", "hdfs_pipeline")


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("nodes", [1, 2, 3, 5])
def test_an_image_comes_whole_to_every_node(strategy: str, nodes: int) -> None:
    lab = PoolLab(1, nodes, strategy=strategy)
    assert lab.written() == lab.names
    for name in lab.names:
        assert lab.equal(name) and partitions_of(lab, name) == partitions_of(lab, "n1")
    assert len(lab.reported(ImageShelved)) == nodes and lab.reported(PacketRefused) == []


def test_the_first_half_is_enough_while_the_tail_hears_nothing() -> None:
    """VSSP §III.D: "pool nodes in the first half of the replica node list will return ACK messages in advance"."""
    times = {}
    for strategy in STRATEGIES:
        lab = PoolLab(2, strategy=strategy)
        lab.cluster.faults.delay("n2", "n3", ms=100)
        lab.write()
        lab.until(lambda lab=lab: bool(lab.reported(ImageShelved, "n2")))  # type: ignore[misc]
        times[strategy] = lab.cluster.now_ns
    assert times["hdfs_pipeline"] > times["vssp"] + 100 * MILLISECOND


@pytest.mark.parametrize("dead", ["n2", "n3"])
def test_a_dead_node_is_left_out_and_the_others_have_it(dead: str) -> None:
    lab = PoolLab(3)
    task = lab.write()
    lab.until(lambda: any(partitions_of(lab, dead).values()))
    lab.cluster.faults.crash(dead)
    lab.until(task.done)
    assert sorted(task.result()) == [name for name in lab.names if name != dead]
    assert all(lab.equal(name) for name in task.result())


@pytest.mark.parametrize("seed", range(6))
def test_links_that_lose_and_double_harm_nothing(seed: int) -> None:
    lab = PoolLab(seed, strategy=STRATEGIES[seed % 2])
    for a, b in (("n1", "n2"), ("n2", "n3"), ("n1", "n3")):
        lab.cluster.faults.lose(a, b, share=0.1)
        lab.cluster.faults.duplicate(a, b, share=0.1)
        lab.cluster.faults.reorder(a, b, share=0.1)
    holders = lab.written()
    assert holders[0] == "n1" and all(lab.equal(name) for name in holders)
    for name in set(lab.names) - set(holders):
        assert not any(path.endswith(".manifest") for path in lab.files(name)) or lab.equal(name)


def test_a_crash_of_the_writer_leaves_nothing_that_counts() -> None:
    lab = PoolLab(4)
    lab.write()
    lab.until(lambda: any(partitions_of(lab, "n3").values()))
    assert lab.pools["n1"].stored() == []
    lab.cluster.faults.power_loss("n1")
    lab.cluster.run_for(5 * SECOND)
    lab.cluster.faults.restart("n1")
    for name in lab.names:
        assert lab.pools[name].stored() == []
    assert lab.written("n2", Mark(0, 2, 120, 3)) == ["n2", "n1", "n3"]
    lab.written("n2", Mark(0, 2, 130, 3))
    lab.written("n2", Mark(0, 2, 140, 3))
    for name in lab.names:
        assert lab.pools[name].stored() == [130, 140], "the newest two; the unfinished one is gone"
        assert len({path[:50] for path in lab.files(name)}) == 2


def test_pins_keep_their_image() -> None:
    """Safety rule 14."""
    lab = PoolLab(5, files=50)
    lab.pools["n2"].pinned.add(115)
    for sn in (100, 110, 120, 130, 140):
        lab.written("n1", Mark(0, 1, sn, 0))
    assert lab.pools["n1"].stored() == [130, 140] and lab.pools["n1"].kept_sn(2, 1) == 130
    assert lab.pools["n2"].stored() == [110, 130, 140] and lab.pools["n2"].kept_sn(2, 1) == 110


def test_the_writer_reports_how_it_went() -> None:
    lab = PoolLab(23)
    lab.written()
    [reported] = lab.reported(ImageWritten)
    size = sum(len(data) for data in partitions_of(lab, "n1").values())
    assert (reported.sn, reported.partitions, reported.size, reported.holders) == (100, 4, size, lab.names)
