"""DCFS2 §4.4 to the letter, in groups of one server: the cluster pauses, Recover-END undoes, and an operation can be lost as the text implies
(safety rule 11)."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import SECOND, Holes
from nodes.metadata.operations import Create, Mkdir, Operation, Stat
from nodes.protocols.dcfs2.messages import RecoverBegin, RecoverEnd, RecoverEnded
from nodes.wire.messages import Message
from tests.simulation.dcfs2.lab import Groups
from tests.simulation.dcfs2.schedules import directory_of, home, shared_create
from tests.simulation.dcfs2.test_crashes import S2PC, held_at, run_with_a_crash, shared_by_two

OPERATIONS = ("create", "mkdir", "rmdir", "remove")


def alone(seed: int, groups: int = 2, **settings: Any) -> Groups:
    return Groups(seed, groups, 0, placement="random", **{"variant": "paper", **settings})


def prepared(seed: int) -> Groups:
    """A directory /d in one group, and below it objects with homes in both groups."""
    lab = alone(seed)
    lab.ada.call(Mkdir("/d"))
    for number in range(4):
        lab.ada.call(Mkdir(f"/d/sub{number}"))
    for number in range(4):
        lab.ada.call(Create(f"/d/file{number}"))
    return lab


def counted(lab: Groups) -> dict[type[Message], int]:
    seen: dict[type[Message], int] = {}

    def count(sender: str, receiver: str, message: Message) -> bool:
        seen[type(message)] = seen.get(type(message), 0) + 1
        return False

    lab.cluster.hold(count)
    return seen


@pytest.mark.parametrize("seed", [7, 8])
@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize("step", S2PC)
@pytest.mark.parametrize("kind", OPERATIONS)
def test_either_side_dies_at_a_step(kind: str, step: str, group: int, seed: int) -> None:
    """The message of the step is lost, too; the operation is on both groups or on none."""
    lab = prepared(seed)
    made: dict[str, Operation] = {"create": Create("/d/new"), "mkdir": Mkdir("/d/new")}
    operation = made.get(kind) or shared_by_two(lab, kind)
    came = run_with_a_crash(lab, operation, step, group, True, False)
    assert came or kind in made
    lab.finish()


@pytest.mark.parametrize(
    "step", ["RecoverBegin", "RecoverBegun", "DecisionReq", "RecoverEnd", "RecoverEnded"]
)
@pytest.mark.parametrize("again", [1, 2])
def test_a_server_dies_while_another_recovers(step: str, again: int) -> None:
    """The recovering server, or the waiting one."""
    lab = prepared(9)
    requests = held_at(lab, "OpReq")
    calls = [lab.ada.spawn(Mkdir(f"/d/new{number}")) for number in range(4)]
    lab.cluster.run_until(lambda: bool(requests.messages), 5 * SECOND)
    coordinator = requests.messages[0][0]
    first = 1 if coordinator in lab.servers(1) else 2
    lab.cluster.faults.crash(coordinator)
    requests.drop()
    waited = held_at(lab, step)
    lab.cluster.faults.restart(coordinator)
    lab.cluster.run_until(lambda: bool(waited.messages), 30 * SECOND)
    lab.cluster.faults.crash(lab.servers(first if again == 1 else 3 - first)[0])
    waited.drop()
    lab.cluster.run_for(SECOND)
    lab.mend()
    lab.cluster.run_until(lambda: all(call.done() for call in calls), 120 * SECOND)
    assert not [call.exception() for call in calls if call.exception()]
    lab.finish()


def test_the_whole_cluster_pauses() -> None:
    """A group without a part in the failure takes no requests either, until Recover-END."""
    lab = alone(3, groups=3)
    three = directory_of_three(lab)
    lab.eve.call(Stat(three))
    failed = lab.active(2)
    lab.cluster.faults.crash(failed)
    lab.eve.call(Stat(three))
    ends = held_at(lab, "RecoverEnd")
    lab.cluster.faults.restart(failed)
    lab.cluster.run_until(lambda: bool(ends.messages), 30 * SECOND)
    waiting = lab.eve.spawn(Stat(three))
    lab.cluster.run_for(2 * SECOND)
    assert not waiting.done()
    ends.release()
    lab.cluster.run_until(waiting.done, 10 * SECOND)
    assert waiting.exception() is None
    lab.finish()


def directory_of_three(lab: Groups) -> str:
    """A directory under the root with its home in the third group."""
    for number in range(9):
        lab.ada.call(Mkdir(f"/three{number}"))
        if home(lab, f"/three{number}") == 3:
            return f"/three{number}"
    raise AssertionError("no directory came to group 3")


def test_recover_end_undoes_what_the_failed_one_never_received_of() -> None:
    lab = alone(4)
    directory = directory_of(lab, 2)
    requests = held_at(lab, "OpReq")
    call = lab.ada.spawn(Create(f"{directory}/f"))
    lab.cluster.run_for(SECOND // 10)
    if not requests.messages:
        call = lab.ada.spawn(Create(f"{directory}/g"))
        lab.cluster.run_until(lambda: bool(requests.messages), 5 * SECOND)
    participant = requests.messages[0][1]
    lab.cluster.faults.crash(participant)
    requests.drop()
    seen = counted(lab)
    lab.cluster.faults.restart(participant)
    lab.cluster.run_until(call.done, 60 * SECOND)
    assert call.exception() is None
    assert seen[RecoverBegin] and seen[RecoverEnd] and seen[RecoverEnded]
    lab.finish()


def test_replicated_groups_do_not_pause() -> None:
    lab = Groups(5, 2, 1, placement="random", variant="paper")
    seen = counted(lab)
    lab.cluster.faults.crash(lab.active(1))
    lab.ada.call(Mkdir("/d"))
    lab.finish()
    assert RecoverBegin not in seen and RecoverEnd not in seen


def test_a_request_that_comes_late_leaves_an_orphan() -> None:
    """The loss in the text: no record says that the operation was given up, so its request is carried out afterwards."""
    lab = alone(1, holes=Holes(abort_without_record=True))
    directory = directory_of(lab, 2)
    release = shared_create(lab, directory)
    coordinator = lab.active(2)
    lab.cluster.faults.crash(coordinator)
    lab.cluster.run_for(7 * SECOND)
    lab.cluster.faults.restart(coordinator)
    lab.cluster.run_for(10 * SECOND)
    release()
    lab.cluster.run_for(SECOND)
    with pytest.raises(AssertionError):
        lab.finish()
