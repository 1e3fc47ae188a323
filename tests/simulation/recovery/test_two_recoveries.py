"""Two rollbacks in a row: the model follows them, in whatever order servers learn of them, and whatever is answered from memory."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.explore.audit import paths_of
from nodes.metadata.operations import Mkdir
from nodes.wire.messages import Answer
from tests.simulation.recovery.lab import ANSWER_NS, Checkpoints


def begin_recovery(lab: Checkpoints, name: str) -> None:
    task = lab.begin({"do": "recover", "name": name}, lab.servers(1)[0])
    lab.cluster.run_until(task.done, ANSWER_NS)
    assert task.result()["checkpoint"] == name


def trees_are_the_models(lab: Checkpoints) -> None:
    lab.fill("last", 3)
    lab.finish()
    inodes: dict[int, dict[str, int] | None] = {}
    for page in lab.pages():
        inodes.update(page.inodes)
    assert lab.invariants.paths() == paths_of(inodes)


def test_a_server_that_slept_through_the_first_reports_of_the_second_before_anybody_reports_of_the_first() -> (
    None
):
    lab = Checkpoints(3, 2, 2, placement="random")
    for name, mark in (("a", "one"), ("b", "two"), ("c", "")):
        lab.fill(name, 3)
        if mark:
            lab.mark(mark)
    sleeper = next(name for name in lab.servers(2) if name != lab.active(2))
    for name in (*lab.servers(1), *lab.servers(2)):
        if name != sleeper:
            lab.cluster.faults.slow_disk(name, ms=300)
    lab.cluster.faults.cut(sleeper, "coordination")
    begin_recovery(lab, "two")
    begin_recovery(lab, "one")
    lab.cluster.faults.heal_all()
    lab.run_ms(3_000)
    received = [event.incarnation for event in lab.taken_back()]
    assert received[0] == 2 and 1 in received
    lab.mend()
    lab.settle()
    trees_are_the_models(lab)


@pytest.mark.parametrize("reports", [False, True])
@pytest.mark.parametrize("groups", [1, 2])
def test_a_call_before_both_barriers_is_answered_from_memory_after_both_recoveries(
    groups: int, reports: bool
) -> None:
    lab = Checkpoints(3, groups, 2, placement="random")
    lab.fill("a", 3)
    bob = lab.cluster.start_client("bob", reports_calls=reports)
    bob.call(Mkdir("/bob"))
    lost = lab.cluster.hold(
        lambda sender, receiver, message: receiver.startswith("bob") and type(message) is Answer
    )
    calls = [bob.spawn(Mkdir(f"/a/d{number}/late")) for number in range(3)]
    lab.run_ms(300)
    lab.mark("one")
    lab.fill("b", 2)
    lab.mark("two")
    lab.fill("c", 1)
    lab.recover("two")
    lab.fill("d", 1)
    lab.recover("one")
    lost.drop()
    lab.cluster.run_until(lambda: all(call.done() for call in calls), 60 * SECOND)
    assert all(call.exception() is None for call in calls)
    trees_are_the_models(lab)
