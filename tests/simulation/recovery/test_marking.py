"""A checkpoint is complete or void, whichever server dies while it is marked, and the cluster continues to serve (safety rule 13)."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Create, Mkdir, Rename
from nodes.metadata_server.checkpoints import messages as m
from nodes.trace.checkpoints import BarrierWritten, CheckpointOutcome
from nodes.trace.events import StepTaken, Stopped
from nodes.wire.messages import CrossGroupMessage, Message
from tests.simulation.recovery.lab import Checkpoints


def served(lab: Checkpoints) -> None:
    """Every group still takes requests."""
    lab.fill("after", 4)
    lab.finish()


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_every_group_writes_the_barrier_under_the_agreed_time(groups: int) -> None:
    lab = Checkpoints(1, groups, 1, placement="random")
    lab.fill("a")
    reported = lab.mark("one", lab.active(groups))
    barriers = lab.barriers("one")
    assert set(barriers) == set(reported["barriers"]) == {group.name for group in lab.config.groups}
    assert {each.stamp_ns for each in barriers.values()} == {reported["stamp_ns"]}
    assert {group: each.sn for group, each in barriers.items()} == {
        group: each["sn"] for group, each in reported["barriers"].items()
    }
    assert sorted(lab.steps("drained")) == sorted(lab.active(number + 1) for number in range(groups))
    served(lab)


def test_the_steps_of_a_marking_follow_the_lines_of_the_algorithm() -> None:
    lab = Checkpoints(1, 2, 1)
    lab.mark("one", lab.active(1))
    lab.run_ms(1_000)
    steps = [
        each.event.step if isinstance(each.event, StepTaken) else "written"
        for each in lab.cluster.events
        if (isinstance(each.event, StepTaken) and each.event.checkpoint == "one")
        or isinstance(each.event, BarrierWritten)
    ]
    first, every = ["begin", "time", "drain", "drained"], steps.index("flags")
    assert steps[:2] == first[:2] and sorted(steps[2:6]) == sorted(first[2:] * 2)
    assert steps[6:every] == ["written"] * 2
    assert steps[every:] == ["flags", "complete", "decided", "resume", "resume"]


def test_the_time_stamp_is_the_average_of_skewed_clocks() -> None:
    lab = Checkpoints(2, 3, 0)
    true_ns = lab.mark("before")["stamp_ns"]
    began_ns = lab.cluster.now_ns
    lab.cluster.faults.skew_clock(lab.active(1), ms=9_000)
    lab.cluster.faults.skew_clock(lab.active(2), ms=-3_000)
    stamp_ns = lab.mark("skewed")["stamp_ns"] - (lab.cluster.now_ns - began_ns)
    assert abs(stamp_ns - true_ns - 2 * SECOND) < SECOND // 10
    served(lab)


def test_a_name_is_given_once_and_must_be_a_name() -> None:
    lab = Checkpoints(3, 2, 0)
    lab.mark("one")
    assert lab.refusal({"do": "mark_checkpoint", "name": "one"}) == "the name one is taken"
    assert "is no name" in lab.refusal({"do": "mark_checkpoint", "name": "../one"})
    assert "is no name" in lab.refusal({"do": "mark_checkpoint", "name": "n" * 64})
    assert "no checkpoint is called 'two'; there are one" in lab.refusal({"do": "recover", "name": "two"})
    assert lab.states() == {"one": "complete"}


def test_two_at_once_do_not_cross() -> None:
    lab = Checkpoints(4, 2, 1)
    tasks = [lab.begin_mark("one", lab.active(1)), lab.begin_mark("two", lab.active(2))]
    lab.cluster.run_until(lambda: all(task.done() for task in tasks), 30 * SECOND)
    answers = [task.result() for task in tasks]
    assert sum("checkpoint" in answer for answer in answers) >= 1
    for refused in (answer["refused"] for answer in answers if "refused" in answer):
        assert "being marked" in refused or "has just changed" in refused
    served(lab)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("cross_group", ["s2pc_mp", "two_phase"])
def test_operations_of_several_groups_in_flight_are_not_split(seed: int, cross_group: str) -> None:
    """The invariant of the barrier sees every decision; many checkpoints are marked during concurrent operations."""
    lab = Checkpoints(seed, 3, 1, placement="random", cross_group=cross_group)
    lab.fill("a", 2)
    lab.ada.call(Mkdir("/b"))
    slow = lab.cluster.faults.delay(lab.active(1), lab.active(2), ms=7)
    assert slow
    calls = []
    for number in range(24):
        calls.append(lab.ada.spawn(Mkdir(f"/a/new{number}")))
        calls.append(lab.eve.spawn(Create(f"/b/f{number}")))
        if number % 3 == 0:
            calls.append(lab.ada.spawn(Rename(f"/a/new{number}", f"/b/moved{number}")))
        lab.run_ms(5)
        if number % 8 == 4:
            lab.mark(f"c{number}")
    lab.cluster.run_until(lambda: all(call.done() for call in calls), 60 * SECOND)
    assert len([each for each in lab.reported(CheckpointOutcome) if each.outcome == "complete"]) == 3
    served(lab)


WHEN = ("BeginMarking", "TimeQuestion", "Drain", "Drained", "WriteBarrier", "BarrierStands")


@pytest.mark.parametrize("moment", WHEN[1:])
@pytest.mark.parametrize("victim", ["time server", "other"])
def test_whoever_dies_while_marking_it_is_whole_or_void(moment: str, victim: str) -> None:
    """The messages of one step to or from the second group are held until a server has died."""
    lab = Checkpoints(11, 2, 1, placement="random")
    lab.fill("a", 3)
    first, second = lab.active(1), lab.active(2)
    held = lab.cluster.hold(
        lambda sender, receiver, message: (
            type(message).__name__ == moment and {sender, receiver} == {first, second}
        )
    )
    task = lab.begin_mark("one", first)
    lab.cluster.run_until(lambda: bool(held.messages), 10 * SECOND)
    server = time_server(lab)
    dies = server if victim == "time server" else ({first, second} - {server}).pop()
    call = lab.eve.spawn(Mkdir("/a/during"))
    lab.run_ms(20)
    lab.cluster.faults.crash(dies)
    held.release()
    lab.cluster.run_until(lambda: call.done() and (task.done() or dies == first), 60 * SECOND)
    lab.mend()
    lab.run_ms(10_000)
    lab.settle()
    outcome = lab.states()["one"]
    assert outcome in ("complete", "void")
    if outcome == "void":
        assert "is void" in lab.refusal({"do": "recover", "name": "one"})
    else:
        assert len(lab.barriers("one")) == 2
    lab.mark("two")
    served(lab)


def time_server(lab: Checkpoints) -> str:
    return lab.steps("begin")[-1]


def test_a_group_that_hears_nothing_voids_the_checkpoint_and_serves_on() -> None:
    """A marked and an unmarked group; the time server's messages are lost, its session lives."""
    lab = Checkpoints(12, 2, 1, placement="random")
    lab.fill("a", 2)
    lab.begin_mark("one")
    lab.cluster.run_until(lambda: len(lab.steps("drained")) == 2, 10 * SECOND)
    server = time_server(lab)
    other = ({lab.active(1), lab.active(2)} - {server}).pop()
    lab.cluster.faults.cut(server, other)
    lab.run_ms(9_000)
    assert lab.states() == {"one": "void"}
    assert len(lab.steps("resume")) == 2
    lab.cluster.faults.heal_all()
    served(lab)


def test_an_upgrading_server_voids_what_it_finds_pending() -> None:
    lab = Checkpoints(13, 2, 2, placement="random")
    lab.fill("a", 2)
    first, second = lab.active(1), lab.active(2)
    lab.cluster.hold(lambda sender, receiver, message: type(message).__name__ in ("Drained", "Drain"))
    task = lab.begin_mark("one", first)
    lab.cluster.run_until(lambda: bool(lab.steps("drain")), 10 * SECOND)
    server = time_server(lab)
    lab.cluster.faults.take_lock("g1" if server == second else "g2")
    lab.cluster.run_until(lambda: lab.reported(CheckpointOutcome) or task.done(), 30 * SECOND)
    assert not lab.barriers("one")
    lab.mend()
    lab.settle()
    assert lab.states() == {"one": "void"}
    served(lab)


def test_refused_requests_of_other_groups_leave_nothing_open() -> None:
    """An operation begins before the drain and reaches the other group after it: it is aborted, and repeated later."""
    lab = Checkpoints(14, 2, 1, placement="random")
    lab.fill("a", 4)
    held = lab.cluster.hold(lambda sender, receiver, message: isinstance(message, CrossGroupMessage))
    calls: list[Any] = [lab.ada.spawn(Mkdir(f"/a/d{number}/x")) for number in range(4)]
    lab.run_ms(20)
    task = lab.begin_mark("one")
    lab.cluster.run_until(lambda: len(lab.steps("drain")) == 2, 10 * SECOND)
    assert held.messages
    held.release()
    lab.cluster.run_until(lambda: task.done() and all(call.done() for call in calls), 60 * SECOND)
    assert task.result()["checkpoint"]["state"] == "complete"
    assert [call.exception() for call in calls] == [None] * 4
    served(lab)


def report(lab: Checkpoints, *messages: Message) -> None:
    """Eve, a client, sends messages to every server."""
    for server in lab.cluster.view():
        lab.cluster.net.carry("eve", server, list(messages))
        lab.run_ms(500)


@pytest.mark.parametrize("name", ["", "../../token", "a/b", "x\ny", "ü\0", "n" * 300, "nothing"])
def test_words_about_what_is_no_checkpoint_have_no_effect(name: str) -> None:
    lab = Checkpoints(40, 2, 1)
    for message in (
        m.Drain(1, name),
        m.WriteBarrier(2, name, 5, False),
        m.WriteBarrier(3, name, 1 << 63, True),
    ):
        report(lab, message)
    report(lab, m.CheckpointDecided(name))
    assert lab.reported(Stopped) == []
    assert lab.steps("drain") == lab.steps("resume") and lab.reported(BarrierWritten) == []
    lab.mark("one")
    served(lab)


@pytest.mark.parametrize("name", ["", "../../token", "a/b", "x\ny", "ü\0", "n" * 300])
def test_nobody_begins_a_checkpoint_under_what_is_no_name(name: str) -> None:
    """Neither from server to server."""
    lab = Checkpoints(41, 2, 1)
    ended: list[str] = []

    def take(sender: str, to: str, message: Message) -> bool:
        if to == "eve" and isinstance(message, m.MarkingEnded):
            ended.append(message.refused)
        return to == "eve"

    held = lab.cluster.hold(take)
    report(lab, m.BeginMarking(1, name))
    held.drop()
    assert lab.reported(Stopped) == [] and lab.states() == {}
    assert sum(line.startswith(f"{name[:63]!r} is no name: ") for line in ended) == 2, ended
    served(lab)
