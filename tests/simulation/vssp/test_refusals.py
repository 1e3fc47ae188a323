"""Messages of unknown peers and broken nodes to the pool: one event, no change."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import SECOND
from nodes.protocols.vssp import messages as m
from nodes.protocols.vssp.manifest import image_name
from nodes.protocols.vssp.packets import PACKET_BYTES, sums
from nodes.slots import StoredFile
from nodes.trace.pool_events import (
    PacketRefused,
    ReplicasDisagree,
    ReportRefused,
)
from nodes.wire.messages import Mark
from tests.simulation.vssp.lab import PoolLab, partitions_of, survey

IMAGE = image_name(Mark(0, 1, 7, 1), 5)


def packet(**changed: Any) -> m.ImagePacket:
    data = changed.pop("data", b"x" * PACKET_BYTES)
    given: dict[str, Any] = {
        "image": IMAGE, "round": 1, "partition": 0, "offset": 0, "last": False, "sums": sums(data), "data": data,
    }  # fmt: skip
    return m.ImagePacket(**(given | changed))


def opening(**changed: Any) -> m.OpenImage:
    given: dict[str, Any] = {
        "image": IMAGE, "round": 1, "mark": Mark(0, 1, 7, 1), "partitions": 2, "chain": ["stranger", "n1"],
        "acknowledging": "vssp",
    }  # fmt: skip
    return m.OpenImage(**(given | changed))


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (packet(sums=sums(b"y" * PACKET_BYTES)), "wrong checksum"),
        (packet(sums=b""), "wrong checksum"),
        (packet(offset=PACKET_BYTES), "comes after"),
        (packet(data=b"x" * (PACKET_BYTES + 1)), "a packet of"),
        (packet(data=b"x" * 10), "a packet of"),
        (packet(data=b"", last=True), "a packet of"),
        (packet(offset=-PACKET_BYTES), "bytes"),
        (packet(offset=1 << 60), "is the most"),
        (packet(partition=2), "no such partition"),
        (packet(partition=-1), "no such partition"),
        (packet(image=image_name(Mark(0, 1, 8, 1), 5)), "not open"),
        (packet(image="../../etc"), "not open"),
    ],
)  # fmt: skip
def test_a_packet_that_does_not_fit_is_one_event_and_changes_nothing(bad: m.ImagePacket, why: str) -> None:
    lab = PoolLab(6)
    lab.send("stranger", "n1", opening(), packet(partition=1))
    lab.cluster.run_for(SECOND)
    before = {path: bytes(data) for path, data in lab.files("n1").items() if data}
    lab.send("stranger", "n1", bad, *[bad] * (bad.image == IMAGE and 0 <= bad.partition < 2))
    lab.cluster.run_for(SECOND)
    reported = lab.reported(PacketRefused)
    assert len(reported) == 1 and why in reported[0].reason
    assert {path: bytes(data) for path, data in lab.files("n1").items() if data} == before
    lab.send("stranger", "n1", packet(partition=1, offset=PACKET_BYTES), packet())
    lab.cluster.run_for(SECOND)
    assert len(lab.reported(PacketRefused)) == 1, "what fits is taken afterwards"


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (opening(image="../epoch"), "no name of an image"),
        (opening(mark=Mark(0, 1, 8, 1)), "its last group"),
        (opening(partitions=65), "partitions"),
        (opening(chain=["n1"]), "chain"),
        (opening(chain=["stranger", "n2"]), "chain"),
        (opening(chain=["n2", "n1"]), "by stranger"),
        (opening(chain=["stranger", "n1", *(f"x{i}" for i in range(20))]), "chain"),
        (opening(acknowledging="nobody"), "unknown"),
    ],
)
def test_an_opening_that_does_not_fit_is_refused(bad: m.OpenImage, why: str) -> None:
    lab = PoolLab(7)
    lab.send("stranger", "n1", bad)
    lab.cluster.run_for(SECOND)
    assert [why in event.reason for event in lab.reported(PacketRefused)] == [True] and lab.files("n1") == {}


def test_a_flood_of_openings_and_packets_stays_within_bounds() -> None:
    lab = PoolLab(8)
    for sn in range(1, 200):
        mark = Mark(0, 1, sn, 1)
        lab.send("stranger", "n1", opening(image=image_name(mark, 1), mark=mark), packet(image="nothing"))
    lab.cluster.run_for(SECOND)
    assert len(lab.reported(PacketRefused)) <= 64
    assert lab.written("n2") == ["n2", "n1", "n3"]


def test_a_manifest_of_other_partitions_is_refused() -> None:
    lab = PoolLab(9)
    data = b"x" * 100
    lab.send("stranger", "n1", opening(partitions=1), packet(data=data, last=True))
    lab.send("stranger", "n1", m.CloseImage(IMAGE, b"rubbish"))
    lab.cluster.run_for(SECOND)
    assert len(lab.reported(PacketRefused)) == 1 and lab.pools["n1"].stored() == []


def test_a_report_that_cannot_be_true_is_refused_and_orders_nothing() -> None:
    lab = PoolLab(20)
    lab.written()
    lab.journals["n2"] = [StoredFile("../../etc/passwd", 1, 1, 1, 9, 9, 0, 9)]
    assert survey(lab) == {100: ["n1", "n3"]}
    [refused] = lab.reported(ReportRefused)
    assert refused.node == "n2" and "no file of a pool" in refused.reason
    assert lab.reported(ReplicasDisagree) == []


def test_commands_about_other_files_are_dropped() -> None:
    lab = PoolLab(21)
    lab.written()
    lab.cluster.servers["n1"].store.files["epoch"] = lab.cluster.servers["n1"].store.files[
        next(iter(lab.files("n1")))
    ]
    lab.send(
        "stranger", "n1", m.RemoveFile("../epoch"), m.RemoveFile("epoch"), m.RecoverFile("epoch", "n2", 0, 9)
    )
    lab.send("stranger", "n1", m.FetchFile(1, "../epoch", 0, 100), m.AskSums(1, "epoch", 0))
    lab.cluster.run_for(SECOND)
    assert "epoch" in lab.files("n1") and lab.equal("n1")


def test_a_command_to_repair_what_is_good_changes_nothing() -> None:
    lab = PoolLab(25)
    lab.written()
    before = {path: bytes(data) for path, data in lab.files("n2").items()}
    for path, data in partitions_of(lab, "n1").items():
        lab.send("n1", "n2", m.RecoverFile(path.removeprefix("image/"), "n1", 0, len(data)))
        lab.send("n1", "n2", m.RecoverFile(path.removeprefix("image/"), "stranger", 0, len(data)))
    lab.cluster.run_for(60 * SECOND)
    assert {path: bytes(data) for path, data in lab.files("n2").items()} == before
