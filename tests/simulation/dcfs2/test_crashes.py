"""Either side dies between any two steps of a cross-group operation: it is on all groups or on none (DCFS2 §4.4)."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import SECOND
from nodes.errors import FsError
from nodes.metadata.operations import Create, Delete, Link, List, Mkdir, Operation, Rename, Stat
from nodes.sim.cluster import SimCluster
from nodes.trace.events import Serving
from nodes.units import home_group
from tests.simulation.dcfs2.lab import Groups

S2PC = ("OpReq", "CommitReq", "Ack")
GENERAL = ("VoteReq", "Vote", "Decision", "Decided")
MORE = ("LookUp", "Found")


def held_at(lab: Groups, kind: str) -> Any:
    """Holds the messages of one kind between groups."""
    return lab.cluster.hold(lambda sender, receiver, message: type(message).__name__ == kind)


def apply_fault(cluster: SimCluster, servers: list[str], victim: str, whole_group: bool) -> None:
    """Crashes the active alone, so that the group fails over; or all of its servers, which return later."""
    for name in servers if whole_group else [victim]:
        cluster.faults.crash(name)


def prepared(placement: str, **settings: Any) -> Groups:
    """A directory /d in one group, and below it things whose homes are others."""
    lab = Groups(7, 2, 2, placement=placement, **settings)
    lab.ada.call(Mkdir("/d"))
    for number in range(4):
        lab.ada.call(Mkdir(f"/d/sub{number}"))
    for number in range(4):
        lab.ada.call(Create(f"/d/file{number}"))
    lab.ada.call(Mkdir("/e"))
    return lab


def shared_by_two(lab: Groups, kind: str) -> Operation:
    """An operation of this kind on two groups."""
    parent = home_group(inode_of(lab, "/d"))
    for number in range(4):
        name = {"rmdir": f"/d/sub{number}", "remove": f"/d/file{number}"}.get(kind)
        if name and home_group(inode_of(lab, name)) != parent:
            return Delete(name)
    raise AssertionError(f"nothing of {kind} is a branch point")


def inode_of(lab: Groups, path: str) -> int:
    return int(lab.ada.call(Stat(path)).result.inode)  # type: ignore[union-attr]


def run_with_a_crash(
    lab: Groups, operation: Operation, step: str, group: int, whole_group: bool, after: bool
) -> bool:
    """Whether the step occurred at all. The messages of the step are lost, or arrive at the end."""
    held = held_at(lab, step)
    call = lab.ada.spawn(operation)
    for _ in range(100):
        if held.messages:
            break
        lab.cluster.run_for(SECOND // 1000)
    came = bool(held.messages)
    apply_fault(lab.cluster, lab.servers(group), lab.active(group), whole_group)
    if after:
        lab.cluster.run_for(8 * SECOND)
        held.release()
    else:
        held.drop()
    lab.cluster.run_for(SECOND)
    lab.mend()
    lab.cluster.run_until(call.done, 120 * SECOND)
    try:
        call.result()
    except FsError as error:
        raise AssertionError(f"{operation} failed: {error}") from None
    return came


@pytest.mark.parametrize("whole_group", [False, True], ids=["failover", "no-failover"])
@pytest.mark.parametrize("late", [False, True], ids=["lost", "late"])
@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize("step", S2PC)
@pytest.mark.parametrize("kind", ["create", "mkdir", "rmdir", "remove"])
def test_s2pc(kind: str, step: str, group: int, late: bool, whole_group: bool) -> None:
    lab = prepared("random")
    made = {"create": Create("/d/new"), "mkdir": Mkdir("/d/new")}
    operation = made.get(kind) or shared_by_two(lab, kind)
    came = run_with_a_crash(lab, operation, step, group, whole_group, late)
    assert came or kind in made
    lab.finish()


@pytest.mark.parametrize("whole_group", [False, True], ids=["failover", "no-failover"])
@pytest.mark.parametrize("late", [False, True], ids=["lost", "late"])
@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize("step", GENERAL + MORE)
def test_rename_of_a_directory(step: str, group: int, late: bool, whole_group: bool) -> None:
    lab = prepared("random")
    came = run_with_a_crash(lab, Rename("/d/sub1", "/e/there"), step, group, whole_group, late)
    assert came or step in MORE
    assert lab.eve.call(List("/e")).result.names == ["there"]  # type: ignore[union-attr]
    lab.finish()


@pytest.mark.parametrize("step", GENERAL)
@pytest.mark.parametrize("group", [1, 2])
def test_the_baseline(step: str, group: int) -> None:
    lab = Groups(7, 2, 2, placement="random", cross_group="two_phase")
    lab.ada.call(Mkdir("/d"))
    for number in range(4):
        run_with_a_crash(lab, Mkdir(f"/d/{number}"), step, group, False, False)
        lab.settle()
    lab.finish()


@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize("step", GENERAL + MORE)
def test_link(step: str, group: int) -> None:
    lab = prepared("random")
    came = run_with_a_crash(lab, Link("/d/file1", "/e/other"), step, group, False, False)
    assert came or step in MORE
    reported = lab.eve.call(Stat("/e/other")).result
    assert reported == lab.eve.call(Stat("/d/file1")).result
    assert reported.nlink == 2  # type: ignore[union-attr]
    lab.eve.call(Delete("/d/file1"))
    assert lab.ada.call(Stat("/e/other")).result.nlink == 1  # type: ignore[union-attr]
    lab.finish()


@pytest.mark.parametrize(
    ("protocol", "append"), [("mams", "Prepare"), ("packed-paxos", "Accept"), ("multi-paxos", "Accept")]
)
def test_a_call_that_a_predecessor_began_is_begun_once_more_only(protocol: str, append: str) -> None:
    """The next leader aborts the rename. Its client asks again before that commits, and the look at the new name outlasts it."""
    lab = prepared("random", protocol=protocol)
    lab.ada.call(Create("/e/file"))
    asked = held_at(lab, "Request")
    call = lab.ada.spawn(Rename("/e/file", "/d/there"))
    lab.cluster.run_until(lambda: bool(asked.messages), 5 * SECOND)
    [(ada, coordinator, request)] = asked.messages
    votes = held_at(lab, "VoteReq")
    asked.release()
    lab.cluster.run_until(lambda: bool(votes.messages), 5 * SECOND)
    lab.cluster.faults.crash(coordinator)
    votes.drop()
    since = len(lab.cluster.events)

    def serving() -> list[str]:
        return [each.server for each in lab.cluster.events[since:] if type(each.event) is Serving]

    found = held_at(lab, "Found")
    commits = lab.cluster.hold(
        lambda sender, receiver, message: type(message).__name__ == append and sender in serving()
    )
    lab.cluster.run_until(lambda: bool(serving()), 60 * SECOND)
    lab.cluster.net.carry(ada, serving()[0], [request])
    lab.cluster.run_until(lambda: bool(found.messages), SECOND)
    commits.release()
    lab.cluster.run_for(SECOND // 5)
    found.release()
    lab.cluster.run_until(call.done, 120 * SECOND)
    assert call.result().error == ""
    lab.finish()
