"""VSSP: Zhou, Chen, Gu, Wang, Meng, "A Virtual Shared Metadata Storage for HDFS" (NAS 2015).

Votes over checksums (§III.B) have their tests in tests/unit/vssp/test_volume.py, the first half of the pipeline (§III.D) and repair from the
first bad offset in tests/simulation/vssp.
"""

from __future__ import annotations

import pytest

from nodes.protocols.vssp import messages as m
from nodes.protocols.vssp.packets import CHUNK_BYTES, PACKET_BYTES
from nodes.trace.pool_events import ImageShelved, ImageWritten
from tests.papers.said import Said
from tests.simulation.vssp.lab import PoolLab, partitions_of, ready, survey


def packets(said: Said, sender: str) -> list[m.ImagePacket]:
    return [sent.message for sent in said.of(m.ImagePacket) if sent.sender == sender]  # type: ignore[misc]


def written(nodes: int = 3, partitions: int = 4, files: int = 20_000) -> tuple[PoolLab, Said]:
    lab = PoolLab(1, nodes, partitions, files=files)
    said = Said(lab.cluster)
    lab.written()
    return lab, said


def test_3_a_the_writers_own_disk_has_the_first_replica_and_the_other_nodes_have_the_rest() -> None:
    lab, _ = written()
    [reported] = lab.reported(ImageWritten)
    assert reported.holders[0] == "n1" and sorted(reported.holders) == lab.names


def test_3_d_the_writer_sends_to_the_first_node_alone_which_passes_it_on() -> None:
    _, said = written(4)
    ways = {(sent.sender, sent.receiver) for sent in said.of(m.ImagePacket)}
    assert ways == {("n1", "n2"), ("n2", "n3"), ("n3", "n4")}


def test_3_d_partitions_travel_side_by_side() -> None:
    """Every partition begins before any partition ends."""
    _, said = written()
    order = [packet.partition for packet in packets(said, "n1")]
    begun = {partition: order.index(partition) for partition in set(order)}
    ended = {partition: len(order) - 1 - order[::-1].index(partition) for partition in set(order)}
    assert len(begun) == 4 and max(begun.values()) < min(ended.values())


def test_3_d_a_packet_is_passed_on_before_the_image_is_whole() -> None:
    _, said = written()
    places = {
        (sent.sender, sent.message.offset): number for number, sent in enumerate(said.of(m.ImagePacket))
    }  # type: ignore[attr-defined]
    last_of_writer = max(place for (sender, _), place in places.items() if sender == "n1")
    assert min(place for (sender, _), place in places.items() if sender == "n2") < last_of_writer


def test_4_b_a_packet_has_64_kilobytes_and_a_checksum_for_each_512() -> None:
    _, said = written()
    assert (PACKET_BYTES, CHUNK_BYTES) == (64 << 10, 512)
    sizes = [len(packet.data) for packet in packets(said, "n1")]
    assert max(sizes) == PACKET_BYTES
    for packet in packets(said, "n1"):
        assert len(packet.sums) == 4 * -(-len(packet.data) // CHUNK_BYTES)


def test_3_d_an_image_counts_on_a_node_once_it_is_whole_there() -> None:
    """The manifest is written last; a node that dies before has no image."""
    lab = PoolLab(1, files=20_000)
    lab.write()
    lab.until(lambda: any(partitions_of(lab, "n3").values()))
    lab.cluster.faults.crash("n3")
    lab.until(lambda: bool(lab.reported(ImageWritten)))
    lab.cluster.faults.restart("n3")
    lab.cluster.run_for(1_000_000)
    assert not lab.reported(ImageShelved, "n3") and lab.pools["n3"].newest(lambda mark: True) is None
    assert lab.equal("n1") and lab.equal("n2")


def test_3_d_whoever_has_the_image_can_be_read_from() -> None:
    lab, _ = written()
    for name in lab.names:
        assert lab.equal(name)


def test_3_b_what_a_node_lacks_is_found_by_comparing_reports_and_brought_there() -> None:
    lab = ready(1, files=3_000)
    survey(lab)
    lab.until(lambda: lab.pools["n3"].newest(lambda mark: True) is not None)
    assert lab.equal("n3") and survey(lab) == {lab.mark.sn: lab.names}


@pytest.mark.parametrize("partitions", [1, 4, 8])
def test_3_d_in_however_many_partitions_the_namespace_is_the_same(partitions: int) -> None:
    lab, _ = written(partitions=partitions, files=3_000)
    assert lab.equal("n3") and len(partitions_of(lab, "n3")) == partitions
