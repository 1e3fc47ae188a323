"""Images through the pipeline: with nodes that die, lose, restart and lie; reading that resumes; repair of what is damaged."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from nodes.config import MILLISECOND, SECOND
from nodes.protocols.vssp import messages as m
from nodes.protocols.vssp.manifest import image_name
from nodes.protocols.vssp.packets import PACKET_OCTETS, sums
from nodes.slots import StoredFile
from nodes.trace.pool_events import (
    ImageRefused,
    ImageShelved,
    ImageWritten,
    PacketRefused,
    PoolReported,
    Repairing,
    ReplicasDisagree,
    ReportRefused,
)
from nodes.wire.messages import Mark
from tests.simulation.vssp.lab import PoolLab

STRATEGIES = ("vssp", "hdfs_pipeline")


def partitions_of(lab: PoolLab, name: str) -> dict[str, bytes]:
    return {path: bytes(octets) for path, octets in lab.files(name).items() if ".p" in path}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("nodes", [1, 2, 3, 5])
def test_an_image_comes_whole_to_every_node(strategy: str, nodes: int) -> None:
    lab = PoolLab(1, nodes, strategy=strategy)
    assert lab.written() == lab.names
    for name in lab.names:
        assert lab.equal(name) and partitions_of(lab, name) == partitions_of(lab, "n1")
    assert len(lab.told(ImageShelved)) == nodes and lab.told(PacketRefused) == []


def test_the_first_half_is_enough_while_the_tail_hears_nothing() -> None:
    """VSSP §III.D: "pool nodes in the first half of the replica node list will return ACK messages in advance"."""
    times = {}
    for strategy in STRATEGIES:
        lab = PoolLab(2, strategy=strategy)
        lab.cluster.faults.delay("n2", "n3", ms=100)
        lab.write()
        lab.until(lambda lab=lab: bool(lab.told(ImageShelved, "n2")))  # type: ignore[misc]
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
    assert lab.pools["n1"].stored() == [130, 140] and lab.pools["n1"].kept_sn() == 140
    assert lab.pools["n2"].stored() == [110, 130, 140] and lab.pools["n2"].kept_sn() == 110


# --- strangers -------------------------------------------------------------------------------------------------------

IMAGE = image_name(Mark(0, 1, 7, 1), 5)


def packet(**changed: Any) -> m.ImagePacket:
    octets = changed.pop("octets", b"x" * PACKET_OCTETS)
    given: dict[str, Any] = {
        "image": IMAGE, "round": 1, "partition": 0, "offset": 0, "last": False, "sums": sums(octets), "octets": octets,
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
        (packet(sums=sums(b"y" * PACKET_OCTETS)), "wrong checksum"),
        (packet(sums=b""), "wrong checksum"),
        (packet(offset=PACKET_OCTETS), "comes after"),
        (packet(octets=b"x" * (PACKET_OCTETS + 1)), "a packet of"),
        (packet(octets=b"x" * 10), "a packet of"),
        (packet(octets=b"", last=True), "a packet of"),
        (packet(offset=-PACKET_OCTETS), "octets"),
        (packet(offset=1 << 60), "is the most"),
        (packet(partition=2), "no such partition"),
        (packet(partition=-1), "no such partition"),
        (packet(image=image_name(Mark(0, 1, 8, 1), 5)), "nobody opened"),
        (packet(image="../../etc"), "nobody opened"),
    ],
)  # fmt: skip
def test_a_packet_that_does_not_fit_is_one_event_and_changes_nothing(bad: m.ImagePacket, why: str) -> None:
    lab = PoolLab(6)
    lab.send("stranger", "n1", opening(), packet(partition=1))
    lab.cluster.run_for(SECOND)
    before = {path: bytes(octets) for path, octets in lab.files("n1").items() if octets}
    lab.send("stranger", "n1", bad, *[bad] * (bad.image == IMAGE and 0 <= bad.partition < 2))
    lab.cluster.run_for(SECOND)
    told = lab.told(PacketRefused)
    assert len(told) == 1 and why in told[0].reason
    assert {path: bytes(octets) for path, octets in lab.files("n1").items() if octets} == before
    lab.send("stranger", "n1", packet(partition=1, offset=PACKET_OCTETS), packet())
    lab.cluster.run_for(SECOND)
    assert len(lab.told(PacketRefused)) == 1, "what fits is taken afterwards"


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
    assert [why in event.reason for event in lab.told(PacketRefused)] == [True] and lab.files("n1") == {}


def test_a_flood_of_openings_and_packets_stays_within_bounds() -> None:
    lab = PoolLab(8)
    for sn in range(1, 200):
        mark = Mark(0, 1, sn, 1)
        lab.send("stranger", "n1", opening(image=image_name(mark, 1), mark=mark), packet(image="nothing"))
    lab.cluster.run_for(SECOND)
    assert len(lab.told(PacketRefused)) <= 64
    assert lab.written("n2") == ["n2", "n1", "n3"]


def test_a_manifest_of_other_partitions_is_refused() -> None:
    lab = PoolLab(9)
    octets = b"x" * 100
    lab.send("stranger", "n1", opening(partitions=1), packet(octets=octets, last=True))
    lab.send("stranger", "n1", m.CloseImage(IMAGE, b"rubbish"))
    lab.cluster.run_for(SECOND)
    assert len(lab.told(PacketRefused)) == 1 and lab.pools["n1"].stored() == []


# --- reading ---------------------------------------------------------------------------------------------------------


def ready(seed: int, files: int = 20_000) -> PoolLab:
    """n1 and n2 have an image; n3 was away."""
    lab = PoolLab(seed, files=files)
    lab.cluster.faults.crash("n3")
    assert lab.written() == ["n1", "n2"]
    lab.cluster.faults.restart("n3")
    lab.cluster.run_for(SECOND)
    return lab


def half_read(lab: PoolLab) -> dict[str, int]:
    """n3 reads until a part of every partition is on its disk."""
    task = lab.spawn("n3", lab.pools["n3"].read(["n1", "n2"], lambda: None))
    lab.until(lambda: len([o for o in partitions_of(lab, "n3").values() if len(o) >= 4 * PACKET_OCTETS]) == 4)
    assert not task.done()
    return {path: len(octets) for path, octets in partitions_of(lab, "n3").items()}


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
    lab.until(lambda: len([o for o in partitions_of(lab, "n3").values() if len(o) >= 4 * PACKET_OCTETS]) == 4)
    lab.cluster.faults.crash("n1")
    lab.until(task.done)
    assert task.result()[0].digest == lab.namespace.digest
    assert {event.began for event in lab.told(Repairing, "n3")} == {0}


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
        for path, octets in lab.files(name).items():
            if path.endswith(".p01"):
                octets[len(octets) // 2] ^= 1
    assert lab.run("n3", lab.pools["n3"].read(["n1", "n2"], lambda: None)) is None
    assert "checksum" in lab.told(ImageRefused, "n3")[0].reason
    for path, octets in lab.files("n2").items():
        if path.endswith(".p01"):
            octets[len(octets) // 2] ^= 1
    namespace, _ = lab.run("n3", lab.pools["n3"].read(["n2"], lambda: None))
    assert namespace.digest == lab.namespace.digest


# --- repair ----------------------------------------------------------------------------------------------------------


def survey(lab: PoolLab) -> dict[int, list[str]]:
    found = lab.run("n1", lab.pools["n1"].survey(lab.names))
    return {each.sn: each.holders for each in found}


def test_who_lacks_an_image_repairs_itself() -> None:
    lab = ready(16, files=3000)
    assert survey(lab) == {100: ["n1", "n2"]}
    lab.until(lambda: bool(lab.told(ImageShelved, "n3")))
    assert lab.equal("n3") and survey(lab) == {100: ["n1", "n2", "n3"]}
    assert len(lab.told(PoolReported)) >= 4 and {e.remedy for e in lab.told(ReplicasDisagree)} == {"recover"}


def test_who_was_left_out_of_the_chain_repairs_itself() -> None:
    lab = PoolLab(24)
    task = lab.write()
    lab.until(lambda: any(partitions_of(lab, "n3").values()))
    lab.cluster.faults.cut("n2", "n3")
    lab.until(task.done)
    assert task.result() == ["n1", "n2"]
    lab.cluster.faults.heal_all()
    survey(lab)
    lab.until(lambda: bool(lab.told(ImageShelved, "n3")))
    assert lab.equal("n3")


@pytest.mark.parametrize("share", [0.0, 0.5, 0.95])
def test_repair_resumes_at_the_first_bad_offset(share: float) -> None:
    """VSSP §IV.C, Fig. 8b: "the damaged file can be recovered in a proper position"."""
    lab = PoolLab(17, partitions=1, files=20_000)
    lab.written()
    [(path, octets)] = [(p, o) for p, o in lab.files("n2").items() if p.endswith(".p00")]
    at = int(len(octets) * share)
    octets[at] ^= 1
    survey(lab)
    shelved = len(lab.told(ImageShelved, "n2"))
    lab.until(lambda: len(lab.told(ImageShelved, "n2")) > shelved)
    assert lab.equal("n2") and bytes(lab.files("n2")[path]) == bytes(lab.files("n1")[path])
    began = {event.began for event in lab.told(Repairing, "n2")}
    assert began == {at // PACKET_OCTETS * PACKET_OCTETS}


def test_a_torn_tail_is_completed_not_sent_again() -> None:
    lab = PoolLab(18, partitions=1, files=20_000)
    lab.written()
    [octets] = [o for p, o in lab.files("n3").items() if p.endswith(".p00")]
    end = len(octets) - 1000
    del octets[end:]
    survey(lab)
    lab.until(lambda: any(event.offset == event.size for event in lab.told(Repairing, "n3")))
    assert {event.began for event in lab.told(Repairing, "n3")} == {end // PACKET_OCTETS * PACKET_OCTETS}
    lab.cluster.run_for(SECOND)
    assert lab.equal("n3")


def test_repair_that_is_interrupted_goes_on_where_it_was() -> None:
    lab = ready(19)
    survey(lab)
    lab.until(lambda: sum(event.offset for event in lab.told(Repairing, "n3")) > 0)
    lab.cluster.faults.crash("n3")
    kept = {event.file for event in lab.told(Repairing, "n3") if event.offset == event.size}
    assert kept
    lab.cluster.faults.restart("n3")
    told = len(lab.told(Repairing, "n3"))
    survey(lab)
    lab.until(lambda: bool(lab.told(ImageShelved, "n3")))
    assert lab.equal("n3")
    assert not kept & {event.file for event in lab.told(Repairing, "n3")[told:]}, (
        "what is whole is left alone"
    )


def test_a_report_that_cannot_be_true_is_refused_and_orders_nothing() -> None:
    lab = PoolLab(20)
    lab.written()
    lab.journals["n2"] = [StoredFile("../../etc/passwd", 1, 1, 1, 9, 9, 0, 9)]
    assert survey(lab) == {100: ["n1", "n3"]}
    [refused] = lab.told(ReportRefused)
    assert refused.node == "n2" and "no file of a pool" in refused.reason
    assert lab.told(ReplicasDisagree) == []


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
    before = {path: bytes(octets) for path, octets in lab.files("n2").items()}
    for path, octets in partitions_of(lab, "n1").items():
        lab.send("n1", "n2", m.RecoverFile(path.removeprefix("image/"), "n1", 0, len(octets)))
        lab.send("n1", "n2", m.RecoverFile(path.removeprefix("image/"), "stranger", 0, len(octets)))
    lab.cluster.run_for(60 * SECOND)
    assert {path: bytes(octets) for path, octets in lab.files("n2").items()} == before


def test_journals_that_disagree_are_told_and_left_alone() -> None:
    lab = PoolLab(22)
    for name, last in (("n1", 50), ("n2", 50), ("n3", 80)):
        lab.journals[name] = [StoredFile("journal", last, last, last, 0, 1, 1, last)]
    survey(lab)
    assert [(e.node, e.remedy) for e in lab.told(ReplicasDisagree)] == [("n1", "recover"), ("n2", "recover")]


def test_the_writer_tells_how_it_went() -> None:
    lab = PoolLab(23)
    lab.written()
    [told] = lab.told(ImageWritten)
    octets = sum(len(octets) for octets in partitions_of(lab, "n1").values())
    assert (told.sn, told.partitions, told.octets, told.holders) == (100, 4, octets, lab.names)


def test_a_report_goes_on_when_an_old_image_is_removed_meanwhile() -> None:
    """Its files are read a piece at a time, and others have turns in between."""
    lab = PoolLab(27, partitions=1, files=20_000)
    for sn in (100, 110):
        lab.written("n1", Mark(0, 1, sn, 0))
    surveying = lab.spawn("n1", lab.pools["n1"].survey(lab.names))
    turns = count()
    lab.until(lambda: next(turns) == 3)
    files = lab.cluster.servers["n1"].store.files
    for path in sorted(files)[:2]:
        del files[path]
    lab.until(surveying.done)
    [told] = [told for told in lab.told(PoolReported) if told.node == "n1"]
    assert not any(file.name.endswith(".p00") and file.last_sn == 100 for file in told.held)
    assert "n1" in surveying.result()[-1].holders


def test_a_file_that_rots_after_it_was_read_is_found_when_all_is_read_again() -> None:
    lab = PoolLab(26, partitions=1, files=20_000)
    lab.written()
    survey(lab)
    [octets] = [o for p, o in lab.files("n2").items() if p.endswith(".p00")]
    octets[len(octets) // 2] ^= 1
    shelved = len(lab.told(ImageShelved, "n2"))
    survey(lab)
    assert lab.told(ReplicasDisagree) == [], "what was whole is not read again"
    lab.run("n1", lab.pools["n1"].survey(lab.names, again=True))
    lab.until(lambda: len(lab.told(ImageShelved, "n2")) > shelved)
    assert lab.equal("n2")
    newest = {told.node: told for told in lab.told(PoolReported)}
    assert set(newest) == {"n1", "n2", "n3"}
    assert all(len(told.held) == told.files for told in newest.values())
