"""Data nodes roll back with the cluster: blocks of the barrier are there as they were, later ones are quarantined (CFS §4.3; safety rule 14)."""

from __future__ import annotations

from random import Random

import pytest

from nodes.config import MILLISECOND, SECOND
from nodes.errors import FsError
from nodes.metadata.operations import Contents, Delete, Open
from nodes.metadata_server.checkpoints import ledger
from nodes.servers.block_quarantine import SettingAside
from nodes.trace.block_events import BlocksSetAside, ReplicaRemoved
from tests.simulation.recovery.content import (
    NODES,
    allowed_parts,
    append,
    disk,
    get,
    parts_of,
    put,
    with_data,
    written,
)
from tests.simulation.recovery.lab import Checkpoints

BYTES = 100_000


def went_back(lab: Checkpoints, incarnation: int = 1) -> bool:
    reported = {
        (s.server, s.event.group)
        for s in lab.cluster.events
        if isinstance(s.event, BlocksSetAside) and s.event.incarnation == incarnation
    }
    return reported == {(node, group.name) for node in NODES for group in lab.config.groups}


def content(number: int) -> bytes:
    return Random(number).randbytes(BYTES)


@pytest.mark.parametrize("groups", [1, 2])
def test_every_data_node_is_as_it_was_at_the_barrier(groups: int) -> None:
    """Files are put, appended to and overwritten after the barrier; later blocks stay in `aside`, also when the checkpoint is deleted."""
    lab = with_data(11, groups)
    put(lab, "/a", content(1))
    put(lab, "/b", content(2))
    lab.mark("one")
    at_barrier = {node: disk(lab, node, "blocks") for node in NODES}
    put(lab, "/c", content(3))
    append(lab, "/a", content(4))
    lab.call(Delete("/b"))
    put(lab, "/b", content(5))
    before = {node: disk(lab, node, "blocks") for node in NODES}
    lab.recover("one")
    lab.cluster.run_until(lambda: went_back(lab), 10 * SECOND)
    for node in NODES:
        assert disk(lab, node, "blocks") == at_barrier[node]
        later = {name: data for name, data in before[node].items() if name not in at_barrier[node]}
        assert disk(lab, node, "aside") == later and len(later) == 12
    assert get(lab, "/a") == content(1) and get(lab, "/b") == content(2)
    put(lab, "/c", content(6))
    lab.ask({"do": "delete_checkpoint", "name": "one"})
    lab.run_ms(12_000)
    assert get(lab, "/c") == content(6)
    assert all(len(disk(lab, node, "aside")) == 12 for node in NODES)
    reported = [event for event in lab.reported(BlocksSetAside) if event.blocks]
    assert sum(event.size for event in reported) == len(NODES) * 3 * BYTES
    assert not [event for event in lab.reported(ReplicaRemoved) if event.removal == "freed"]
    lab.finish()


def test_a_data_node_that_slept_through_two_recoveries_sets_both_aside() -> None:
    """The blocks are quarantined although a checkpoint that was marked meanwhile keeps all blocks with lower numbers."""
    lab = with_data(12, 1)
    put(lab, "/a", content(1))
    lab.mark("one")
    at_barrier = disk(lab, "dn1", "blocks")
    put(lab, "/b", content(2))
    first = set(disk(lab, "dn1", "blocks")) - set(at_barrier)
    lab.cluster.faults.crash("dn1")
    lab.recover("one")
    lab.mark("two")
    put(lab, "/c", content(3))
    lab.recover("two")
    lab.mark("three")
    lab.cluster.faults.restart("dn1")
    lab.cluster.run_until(lambda: went_back(lab, 2), 20 * SECOND)
    assert disk(lab, "dn1", "blocks") == at_barrier and set(disk(lab, "dn1", "aside")) == first
    assert sum(name.endswith(".rep") for name in disk(lab, "dn2", "aside")) == 4
    assert get(lab, "/a") == content(1)
    lab.finish()


def test_two_recoveries_within_seconds_each_to_an_earlier_checkpoint() -> None:
    """The second sets aside what the first kept: its checkpoint was set aside too, and is refused."""
    lab = with_data(17, 1)
    put(lab, "/a", content(1))
    lab.mark("one")
    at_barrier = {node: disk(lab, node, "blocks") for node in NODES}
    put(lab, "/b", content(2))
    lab.mark("two")
    put(lab, "/c", content(3))
    lab.recover("two")
    lab.cluster.run_until(lambda: went_back(lab), 10 * SECOND)
    assert get(lab, "/b") == content(2)
    lab.recover("one")
    lab.cluster.run_until(lambda: went_back(lab, 2), 10 * SECOND)
    assert {node: disk(lab, node, "blocks") for node in NODES} == at_barrier
    assert lab.states() == {"one": "complete", "two": "aside"}
    assert "was set aside by a recovery to an earlier one" in lab.refusal({"do": "recover", "name": "two"})
    assert get(lab, "/a") == content(1)
    lab.finish()


@pytest.mark.parametrize("after_us", [100, 500, 900, 1_400, 2_200])
def test_a_power_loss_while_setting_aside_loses_nothing(after_us: int) -> None:
    lab = with_data(13, 1)
    put(lab, "/a", content(1))
    lab.mark("one")
    at_barrier = disk(lab, "dn1", "blocks")
    put(lab, "/b", content(2))
    later = {n: o for n, o in disk(lab, "dn1", "blocks").items() if n not in at_barrier}
    lab.ask({"do": "recover", "name": "one"})
    lab.cluster.run_until(lambda: bool(disk(lab, "dn1", "aside")), 20 * SECOND)
    lab.cluster.run_for(after_us * MILLISECOND // 1000)
    lab.cluster.faults.power_loss("dn1")
    lab.cluster.faults.restart("dn1")
    lab.cluster.run_until(lambda: went_back(lab), 20 * SECOND)
    lab.run_ms(5_000)
    assert disk(lab, "dn1", "blocks") == at_barrier and disk(lab, "dn1", "aside") == later
    lab.settle()
    lab.finish()


def test_a_failing_disk_is_reported_and_what_is_left_is_done_later() -> None:
    lab = with_data(14, 1)
    put(lab, "/a", content(1))
    lab.mark("one")
    put(lab, "/b", content(2))
    lab.cluster.servers["dn1"].store.fails = True
    lab.recover("one")
    lab.run_ms(5_000)
    assert not went_back(lab) and not disk(lab, "dn1", "aside")
    lab.cluster.servers["dn1"].store.fails = False
    lab.cluster.run_until(lambda: went_back(lab), 20 * SECOND)
    assert len(disk(lab, "dn1", "aside")) == 4
    lab.finish()


def test_a_writer_that_went_on_behind_the_barrier_is_refused_after_the_recovery() -> None:
    """Otherwise the file would have a gap in place of the blocks that were quarantined, and the writer would get success."""
    lab = with_data(15, 1)
    size = 1 << 16
    data = Random(7).randbytes(8 * size)
    allowed = 2

    def blocks() -> int:
        found = lab.ada.call(Open("/f", 0, 10)).result
        assert isinstance(found, Contents)
        return len(found.blocks)

    writing = lab.eve.begin(lab.eve.files.put("/f", allowed_parts(lab, data, size, lambda: allowed)))
    lab.run_ms(500)
    assert blocks() == 1
    lab.mark("one")
    allowed = 5
    lab.run_ms(500)
    assert blocks() == 4
    lab.recover("one")
    allowed = 8
    lab.cluster.run_until(writing.done, 60 * SECOND)
    with pytest.raises(FsError, match="ESTALE: the file was taken back while call"):
        writing.result()
    assert blocks() == 1
    written(lab, lab.ada.files.append("/f", parts_of(b"end"), force=True))
    assert get(lab, "/f") == data[: 2 * size] + b"end"
    lab.finish()


# --- seeded damage ---------------------------------------------------------------------------------------------------


async def leave_it(self: SettingAside, block: int) -> int:
    return 0


def no_ranges(before: list[tuple[int, int]], next_block: int, incarnation: int) -> list[tuple[int, int]]:
    return []


@pytest.mark.parametrize("broken", ["a data node sets nothing aside", "nobody tells which blocks came later"])
def test_a_later_block_that_stays_in_use_is_found(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if broken.startswith("a data node"):
        monkeypatch.setattr(SettingAside, "_set_aside", leave_it)
    else:
        monkeypatch.setattr(ledger, "void_ranges", no_ranges)
    lab = with_data(16, 1)
    put(lab, "/a", content(1))
    lab.mark("one")
    put(lab, "/b", content(2))
    lab.recover("one")
    lab.run_ms(12_000)
    lab.invariants.finish()
    assert {failure.invariant for failure in lab.invariants.failures} == {"exactly up to the barrier"}
    assert "was numbered after the barrier, was still in use there" in lab.invariants.failures[0].explanation
