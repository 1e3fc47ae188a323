"""Reading an image from the pool: from all sources at once, and continued after an interruption."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.protocols.vssp import messages as m
from nodes.protocols.vssp.packets import PACKET_BYTES
from nodes.trace.pool_events import (
    ImageRefused,
    Repairing,
)
from nodes.wire.messages import Mark
from tests.simulation.vssp.lab import PoolLab, partitions_of, ready


def half_read(lab: PoolLab) -> dict[str, int]:
    """n3 reads until its disk has a part of every partition."""
    task = lab.spawn("n3", lab.pools["n3"].read(["n1", "n2"], lambda: None))
    lab.until(lambda: len([o for o in partitions_of(lab, "n3").values() if len(o) >= 4 * PACKET_BYTES]) == 4)
    assert not task.done()
    return {path: len(data) for path, data in partitions_of(lab, "n3").items()}


def test_an_image_is_read_from_all_sources_at_once() -> None:
    lab = ready(10, files=4000)
    asked = []
    held = lab.cluster.hold(
        lambda sender, receiver, message: bool(type(message) is m.FetchFile and asked.append(receiver))
    )
    namespace, mark = lab.run("n3", lab.pools["n3"].read(["n1", "n2"], lambda: None))
    held.drop()
    assert mark == lab.mark and namespace.digest == lab.namespace.digest and lab.equal("n3")
    assert asked.count("n1") > 1 and asked.count("n2") > 1


def test_a_source_that_dies_does_not_make_the_reader_start_over() -> None:
    lab = ready(11)
    task = lab.spawn("n3", lab.pools["n3"].read(["n1", "n2"], lambda: None))
    lab.until(lambda: len([o for o in partitions_of(lab, "n3").values() if len(o) >= 4 * PACKET_BYTES]) == 4)
    lab.cluster.faults.crash("n1")
    lab.until(task.done)
    assert task.result()[0].digest == lab.namespace.digest
    assert {event.began for event in lab.reported(Repairing, "n3")} == {0}


@pytest.mark.parametrize("fault", ["crash", "power_loss"])
def test_a_reader_that_restarts_goes_on_at_the_committed_point(fault: str) -> None:
    lab = ready(12)
    before = half_read(lab)
    getattr(lab.cluster.faults, fault)("n3")
    lab.cluster.faults.restart("n3")
    asked: list[int] = []
    held = lab.cluster.hold(
        lambda sender, receiver, message: bool(
            type(message) is m.FetchFile and ".p" in message.file and asked.append(message.offset)
        )
    )
    namespace, _ = lab.run("n3", lab.pools["n3"].read(["n1", "n2"], lambda: None))
    held.drop()
    assert namespace.digest == lab.namespace.digest and lab.equal("n3")
    if fault == "crash":
        assert min(asked) > 0.8 * min(before.values()), "what was read is not read again"


def test_a_newer_image_does_not_make_the_reader_of_an_older_one_start_over() -> None:
    lab = ready(13)
    half_read(lab)
    lab.cluster.faults.crash("n3")
    assert lab.written("n2", Mark(0, 1, 200, 9)) == ["n2", "n1"]
    lab.cluster.faults.restart("n3")
    assert lab.run("n3", lab.pools["n3"].read(["n1", "n2"], lambda: None))[1] == lab.mark


def test_an_older_image_that_is_whole_here_does_not_go_before_a_newer_one() -> None:
    lab = PoolLab(26, files=500)
    assert lab.written() == lab.names
    lab.cluster.faults.crash("n3")
    assert lab.written("n2", Mark(0, 1, 200, 9)) == ["n2", "n1"]
    lab.cluster.faults.restart("n3")
    assert lab.run("n3", lab.pools["n3"].read(["n1", "n2"], lambda: None))[1].sn == 200


def test_without_an_image_or_with_dead_sources_reading_gives_up() -> None:
    lab = PoolLab(14)
    assert lab.run("n3", lab.pools["n3"].read(["n1", "n2"], lambda: None)) is None
    lab.written()
    lab.cluster.faults.crash("n1")
    lab.cluster.faults.crash("n2")
    assert lab.run("n3", lab.pools["n3"].read(["n1", "n2"], lambda: None)) is None
    assert lab.run("n3", lab.pools["n3"].read([], lambda: None)) is None


def test_a_source_that_rots_is_not_believed() -> None:
    lab = ready(15, files=4000)
    for name in ("n1", "n2"):
        for path, data in lab.files(name).items():
            if path.endswith(".p01"):
                data[len(data) // 2] ^= 1
    assert lab.run("n3", lab.pools["n3"].read(["n1", "n2"], lambda: None)) is None
    assert "checksum" in lab.reported(ImageRefused, "n3")[0].reason
    for path, data in lab.files("n2").items():
        if path.endswith(".p01"):
            data[len(data) // 2] ^= 1
    namespace, _ = lab.run("n3", lab.pools["n3"].read(["n2"], lambda: None))
    assert namespace.digest == lab.namespace.digest


def write_in_step(lab: PoolLab, sn: int) -> None:
    """n2 writes an image to its own disk and to that of n1."""
    mark = Mark(0, 1, sn, 9)
    task = lab.spawn("n2", lab.pools["n2"].write(lab.namespace, mark, ["n1", "n2"], lambda: None))
    lab.until(task.done)
    assert task.result() == ["n2", "n1"]


def test_an_image_that_is_read_for_longer_than_two_newer_ones_are_written_stays() -> None:
    lab = ready(13)
    task = lab.spawn("n3", lab.pools["n3"].read(["n1", "n2"], lambda: None))
    held = lab.cluster.hold(
        lambda sender, receiver, message: type(message) is m.FilePiece and message.offset > 0
    )
    lab.until(lambda: len(held.messages) >= 4)
    for sn in (200, 300):
        write_in_step(lab, sn)
    held.release()
    lab.until(task.done)
    assert task.result()[1] == lab.mark
    lab.cluster.run_for(10 * SECOND)
    write_in_step(lab, 400)
    lab.cluster.run_for(SECOND)
    assert {path.split(".")[0][-29:-9] for path in partitions_of(lab, "n1")} == {f"{300:020}", f"{400:020}"}
