"""Repair in the pool: from the first bad offset on, without the parts that are there (VSSP §III.B, §IV.C)."""

from __future__ import annotations

from itertools import count

import pytest

from nodes.config import SECOND
from nodes.protocols.vssp.messages import AskReport
from nodes.protocols.vssp.packets import PACKET_BYTES
from nodes.slots import StoredFile
from nodes.trace.pool_events import (
    ImageShelved,
    PoolReported,
    Repairing,
    ReplicasDisagree,
)
from nodes.wire.messages import Mark
from tests.simulation.vssp.lab import PoolLab, partitions_of, ready, survey


def test_who_lacks_an_image_repairs_itself() -> None:
    lab = ready(16, files=3000)
    assert survey(lab) == {100: ["n1", "n2"]}
    lab.until(lambda: bool(lab.reported(ImageShelved, "n3")))
    assert lab.equal("n3") and survey(lab) == {100: ["n1", "n2", "n3"]}
    assert len(lab.reported(PoolReported)) >= 4 and {e.remedy for e in lab.reported(ReplicasDisagree)} == {
        "recover"
    }


def test_who_was_left_out_of_the_chain_repairs_itself() -> None:
    lab = PoolLab(24)
    task = lab.write()
    lab.until(lambda: any(partitions_of(lab, "n3").values()))
    lab.cluster.faults.cut("n2", "n3")
    lab.until(task.done)
    assert task.result() == ["n1", "n2"]
    lab.cluster.faults.heal_all()
    survey(lab)
    lab.until(lambda: bool(lab.reported(ImageShelved, "n3")))
    assert lab.equal("n3")


def test_who_missed_the_question_is_asked_again_soon() -> None:
    lab = ready(16, files=3000)
    lost = lab.cluster.hold(lambda sender, receiver, message: receiver == "n3" and type(message) is AskReport)
    task = lab.spawn("n1", lab.pools["n1"].survey(lab.names))
    lab.until(lambda: bool(lost.messages))
    lost.drop()
    began_ns = lab.cluster.now_ns
    lab.until(task.done)
    assert lab.cluster.now_ns - began_ns < 3 * SECOND
    assert {event.node for event in lab.reported(PoolReported)} == set(lab.names)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.95])
def test_repair_resumes_at_the_first_bad_offset(share: float) -> None:
    """VSSP §IV.C, Fig. 8b: "the damaged file can be recovered in a proper position"."""
    lab = PoolLab(17, partitions=1, files=20_000)
    lab.written()
    [(path, data)] = [(p, o) for p, o in lab.files("n2").items() if p.endswith(".p00")]
    at = int(len(data) * share)
    data[at] ^= 1
    survey(lab)
    shelved = len(lab.reported(ImageShelved, "n2"))
    lab.until(lambda: len(lab.reported(ImageShelved, "n2")) > shelved)
    assert lab.equal("n2") and bytes(lab.files("n2")[path]) == bytes(lab.files("n1")[path])
    began = {event.began for event in lab.reported(Repairing, "n2")}
    assert began == {at // PACKET_BYTES * PACKET_BYTES}


def test_a_torn_tail_is_completed_not_sent_again() -> None:
    lab = PoolLab(18, partitions=1, files=20_000)
    lab.written()
    [data] = [o for p, o in lab.files("n3").items() if p.endswith(".p00")]
    end = len(data) - 1000
    del data[end:]
    survey(lab)
    lab.until(lambda: any(event.offset == event.size for event in lab.reported(Repairing, "n3")))
    assert {event.began for event in lab.reported(Repairing, "n3")} == {end // PACKET_BYTES * PACKET_BYTES}
    lab.cluster.run_for(SECOND)
    assert lab.equal("n3")


def test_repair_that_is_interrupted_goes_on_where_it_was() -> None:
    lab = ready(19)
    survey(lab)
    lab.until(lambda: sum(event.offset for event in lab.reported(Repairing, "n3")) > 0)
    lab.cluster.faults.crash("n3")
    kept = {event.file for event in lab.reported(Repairing, "n3") if event.offset == event.size}
    assert kept
    lab.cluster.faults.restart("n3")
    reported = len(lab.reported(Repairing, "n3"))
    survey(lab)
    lab.until(lambda: bool(lab.reported(ImageShelved, "n3")))
    assert lab.equal("n3")
    assert not kept & {event.file for event in lab.reported(Repairing, "n3")[reported:]}, (
        "what is whole is left alone"
    )


def test_journals_that_disagree_are_reported_and_left_alone() -> None:
    lab = PoolLab(22)
    for name, last in (("n1", 50), ("n2", 50), ("n3", 80)):
        lab.journals[name] = [StoredFile("journal", last, last, last, 0, 1, 1, last)]
    survey(lab)
    assert [(e.node, e.remedy) for e in lab.reported(ReplicasDisagree)] == [
        ("n1", "recover"),
        ("n2", "recover"),
    ]


def test_a_report_goes_on_when_an_old_image_is_removed_meanwhile() -> None:
    """Its files are read in pieces, and other tasks have turns in between."""
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
    [reported] = [reported for reported in lab.reported(PoolReported) if reported.node == "n1"]
    assert not any(file.name.endswith(".p00") and file.last_sn == 100 for file in reported.held)
    assert "n1" in surveying.result()[-1].holders


def test_a_file_that_rots_after_it_was_read_is_found_when_all_is_read_again() -> None:
    lab = PoolLab(26, partitions=1, files=20_000)
    lab.written()
    survey(lab)
    [data] = [o for p, o in lab.files("n2").items() if p.endswith(".p00")]
    data[len(data) // 2] ^= 1
    shelved = len(lab.reported(ImageShelved, "n2"))
    survey(lab)
    assert lab.reported(ReplicasDisagree) == [], "what was whole is not read again"
    lab.run("n1", lab.pools["n1"].survey(lab.names, again=True))
    lab.until(lambda: len(lab.reported(ImageShelved, "n2")) > shelved)
    assert lab.equal("n2")
    newest = {reported.node: reported for reported in lab.reported(PoolReported)}
    assert set(newest) == {"n1", "n2", "n3"}
    assert all(len(reported.held) == reported.files for reported in newest.values())


def test_a_partition_that_is_missing_is_fetched() -> None:
    lab = PoolLab(40)
    lab.written()
    files = lab.cluster.servers["n2"].store.files
    del files[next(path for path in files if path.endswith(".p02"))]
    assert survey(lab) == {100: ["n1", "n3"]}
    lab.until(lambda: bool(lab.reported(Repairing, "n2")))
    lab.cluster.run_for(2 * SECOND)
    assert lab.equal("n2") and survey(lab) == {100: ["n1", "n2", "n3"]}
