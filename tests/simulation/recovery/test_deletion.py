"""Deleted checkpoints, and the blocks that a kept one names (safety rule 14)."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from nodes.config import SECOND, Holes
from nodes.metadata.operations import Delete, Mkdir
from nodes.metadata_server.checkpoints.messages import WriteBarrier
from nodes.storage import journal_file
from nodes.trace.checkpoints import BlocksAtBarrier
from nodes.trace.events import JournalPruned
from nodes.wire.data_messages import FullReport
from tests.simulation.recovery.content import NODES, get, put, replicas, with_data
from tests.simulation.recovery.lab import Checkpoints

# --- refused ---------------------------------------------------------------------------------------------------------


def test_what_cannot_be_had_is_said_in_one_line() -> None:
    lab = Checkpoints(1, 2, 1, placement="random")
    lab.mark("one")
    assert lab.refusal({"do": "mark_checkpoint", "name": "one"}) == "the name one is taken"
    for do in ("recover", "delete_checkpoint"):
        assert lab.refusal({"do": do, "name": "two"}) == "no checkpoint is called 'two'; there are one"
        assert "is no name" in lab.refusal({"do": do, "name": "../two"})
    lab.finish()


def test_one_that_is_being_marked_or_gone_back_to_stays() -> None:
    lab = Checkpoints(2, 2, 2, placement="random")
    lab.fill("a", 2)
    held = lab.cluster.hold(lambda sender, receiver, message: type(message) is WriteBarrier)
    task = lab.begin_mark("one")
    lab.cluster.run_until(lambda: bool(held.messages), 10 * SECOND)
    assert lab.refusal({"do": "delete_checkpoint", "name": "one"}) == "checkpoint one is being marked"
    held.release()
    lab.cluster.run_until(task.done, 30 * SECOND)
    going = lab.begin({"do": "recover", "name": "one"})
    lab.cluster.run_until(going.done, 30 * SECOND)
    reported = lab.ask({"do": "delete_checkpoint", "name": "one"}, lab.servers(1)[0])
    assert reported["refused"].startswith("the cluster is going back to one just now")
    lab.run_ms(50)
    lab.settle()
    assert lab.ask({"do": "delete_checkpoint", "name": "one"}) == {"deleted": "one"}
    assert lab.states() == {}
    lab.finish()


def test_a_void_one_is_no_goal_and_its_name_is_free_once_it_is_deleted() -> None:
    lab = Checkpoints(3, 2, 2, placement="random")
    held = lab.cluster.hold(lambda sender, receiver, message: type(message) is WriteBarrier)
    task = lab.begin_mark("one")
    lab.cluster.run_until(task.done, 60 * SECOND)
    held.drop()
    assert lab.states() == {"one": "void"}
    assert "is void" in lab.refusal({"do": "recover", "name": "one"})
    lab.ask({"do": "delete_checkpoint", "name": "one"})
    lab.fill("a", 2)
    lab.mark("one")
    lab.fill("b", 2)
    lab.recover("one")
    lab.finish()


# --- kept and removed ------------------------------------------------------------------------------------------------


def test_what_was_kept_for_it_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The journal below its barrier is pruned once the checkpoint is deleted, not before."""
    monkeypatch.setattr(journal_file, "SEGMENT_BYTES", 4000)
    lab = Checkpoints(4, 1, 2, image_every=20)
    lab.mark("one")
    barrier = lab.barriers("one")["g1"].sn

    def work(name: str) -> int:
        """The first group that is still in some journal, after more images."""
        for number in range(80):
            lab.call(Mkdir(f"/{name}{number}"))
        lab.run_ms(8_000)
        return max((event.first_sn for event in lab.reported(JournalPruned)), default=0)

    assert work("a") <= barrier
    lab.ask({"do": "delete_checkpoint", "name": "one"})
    lab.run_ms(3_000)
    assert work("b") > barrier + 20
    lab.finish()


@pytest.mark.parametrize("groups", [1, 2])
def test_blocks_that_it_names_stay_until_it_is_deleted(groups: int) -> None:
    lab = with_data(5, groups)
    kept, later = Random(1).randbytes(150_000), Random(2).randbytes(150_000)
    put(lab, "/kept", kept)
    lab.mark("one")
    blocks = set(replicas(lab))
    lab.call(Delete("/kept"))
    put(lab, "/later", later)
    lab.call(Delete("/later"))
    lab.run_ms(12_000)
    assert set(replicas(lab)) == blocks and len(replicas(lab)) == 3 * len(blocks)
    lab.recover("one")
    assert get(lab, "/kept") == kept
    put(lab, "/later", later[::-1])
    assert get(lab, "/later") == later[::-1]
    lab.call(Delete("/kept"))
    lab.run_ms(8_000)
    assert blocks <= set(replicas(lab))
    lab.ask({"do": "delete_checkpoint", "name": "one"})
    lab.run_ms(12_000)
    assert not blocks & set(replicas(lab))
    assert get(lab, "/later") == later[::-1]
    lab.finish()


def test_a_server_that_copies_the_barrier_of_a_deleted_one_keeps_no_blocks() -> None:
    """It reads the list of checkpoints when it starts, before it copies the journal, and leads later."""
    lab = with_data(5, 1)
    put(lab, "/kept", Random(1).randbytes(150_000))
    late = next(name for name in lab.servers(1) if name != lab.active(1))
    lab.cluster.faults.crash(late)
    lab.mark("one")
    lab.ask({"do": "delete_checkpoint", "name": "one"})
    lab.call(Mkdir("/a"))
    lab.cluster.faults.restart(late)
    lab.run_ms(1_000)
    lab.settle()
    while lab.active(1) != late:
        lab.cluster.faults.respawn(lab.active(1))
        lab.run_ms(1_000)
        lab.settle()
    lab.call(Delete("/kept"))
    lab.run_ms(12_000)
    assert replicas(lab) == []
    lab.finish()


@pytest.mark.parametrize("unpinned", [False, True])
def test_blocks_are_compared_with_the_barrier_when_the_cluster_has_gone_back(unpinned: bool) -> None:
    """With the hole open data nodes remove blocks that only the checkpoint names, and only the namespace is as it was."""
    lab = with_data(9, 1, holes=Holes(checkpoint_unpinned=unpinned))
    put(lab, "/kept", Random(1).randbytes(150_000))
    lab.mark("one")
    [copy] = lab.reported(BlocksAtBarrier)
    assert len(copy.blocks) == len(set(replicas(lab)))
    lab.call(Delete("/kept"))
    lab.run_ms(12_000)
    lab.recover("one")
    lab.run_ms(1_000)
    lab.invariants.finish()
    found = {failure.invariant for failure in lab.invariants.failures}
    assert found == ({"exactly up to the barrier"} if unpinned else set())
    if unpinned:
        assert "removed it as freed" in lab.invariants.failures[0].explanation


def test_no_block_number_is_given_again() -> None:
    """Blocks from after the barrier are still on the data nodes when the next file is written."""
    lab = with_data(6, 1)
    lab.call(Mkdir("/a"))
    lab.mark("one")
    first, second = Random(3).randbytes(100_000), Random(4).randbytes(100_000)
    put(lab, "/f", first)
    held = lab.cluster.hold(lambda sender, receiver, message: type(message).__name__ == "Remove")
    lab.recover("one")
    put(lab, "/f", second)
    assert get(lab, "/f") == second
    held.release()
    lab.run_ms(8_000)
    assert get(lab, "/f") == second
    lab.finish()


def test_after_going_back_data_nodes_report_anew() -> None:
    lab = with_data(7, 1)
    put(lab, "/f", Random(5).randbytes(100_000))
    lab.mark("one")
    put(lab, "/g", Random(6).randbytes(100_000))
    reports: list[tuple[str, str]] = []

    def watch(sender: str, receiver: str, message: Any) -> bool:
        if type(message) is FullReport:
            reports.append((sender, receiver))
        return False

    lab.cluster.hold(watch)
    lab.recover("one")
    lab.run_ms(5_000)
    assert {pair for pair in reports} >= {(node, name) for node in NODES for name in lab.servers(1)}
    lab.finish()
