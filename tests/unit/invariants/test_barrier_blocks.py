"""The blocks of a checkpoint against the data nodes' replicas after a rollback, on histories written by hand: correct ones are green, wrong ones
red."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import DataConfig, one_group
from nodes.invariants import registry
from nodes.invariants.checker import PATIENCE_NS
from nodes.trace.base import Event
from nodes.trace.block_events import (
    BlocksSetAside,
    ReplicaDamaged,
    ReplicaRemoved,
    ReplicasFound,
    ReplicaStored,
)
from nodes.trace.checkpoints import BarrierWritten, BlocksAtBarrier, CheckpointOutcome, TakenBack
from tests.unit.invariants.story import MS, Story

NAME = "exactly up to the barrier"
FIRST, SECOND, LATER = (1 << 48) | 5, (1 << 48) | 6, (1 << 48) | 7


class Marked(Story):
    """Two blocks on two nodes, a barrier that names them."""

    def __init__(self) -> None:
        super().__init__()
        for node in ("dn1", "dn2"):
            self.report(node, ReplicasFound([], False))
            self.report(node, ReplicaStored(FIRST, 1, 9))
            self.report(node, ReplicaStored(SECOND, 2, 5))
        self.report("mds1", BarrierWritten("g1", "one", 5, 3, 1, 3, 7, LATER))
        self.report("mds1", BlocksAtBarrier("g1", "one", [(FIRST, 1, 9)], True))
        self.report("mds1", BlocksAtBarrier("g1", "one", [(SECOND, 2, 5)], False))
        self.report("mds1", CheckpointOutcome("one", "complete", 5, {"g1": 3}))
        for node in ("dn1", "dn2"):
            self.report(node, ReplicaStored(LATER, 1, 9))

    def everywhere(self, *events: Event) -> None:
        for node in ("dn1", "dn2"):
            for event in events:
                self.report(node, event)  # type: ignore[arg-type]

    def back(self) -> None:
        self.report("mds1", TakenBack("g1", 1, "one", 2, 3, 3, 7, 4, 4))

    def back_to_a_later_one(self) -> None:
        """To a checkpoint of the incarnation that `back` began."""
        self.report("mds1", BarrierWritten("g1", "two", 9, 5, 3, 5, 8, (1 << 48) | (1 << 32) | 4))
        self.report("mds1", TakenBack("g1", 2, "two", 4, 5, 5, 8, 4, 4))

    def status(self) -> dict[str, Any]:
        invariants = registry.start(one_group(data=DataConfig(nodes=["dn1", "dn2"])))
        for stamped in self.events:
            invariants.on_event(stamped)
        invariants.finish()
        return next(status for status in invariants.invariants() if status["invariant"] == NAME)


def test_what_the_barrier_names_is_there() -> None:
    story = Marked()
    before = story.status()["checked"]
    story.everywhere(ReplicaRemoved(LATER, 1, "freed"), ReplicasFound([(FIRST, 1), (SECOND, 2)], False))
    story.back()
    assert story.status()["state"] == "green"
    assert story.status()["checked"] == before + 3, "the barrier and both blocks"


def test_one_good_replica_is_enough() -> None:
    story = Marked()
    story.report("dn1", ReplicaRemoved(FIRST, 1, "freed"))
    story.back()
    assert story.status()["state"] == "green"


def test_a_block_that_was_removed_as_freed_is_red() -> None:
    story = Marked()
    story.everywhere(ReplicaRemoved(FIRST, 1, "freed"))
    assert story.status()["state"] == "green", "nobody has gone back"
    story.back()
    status = story.status()
    assert status["state"] == "red"
    assert status["explanation"].startswith(
        "checkpoint one names block 0001000000000005 of g1 with stamp 1 and 9 bytes"
    )
    assert "dn1 removed it as freed" in status["explanation"]
    assert [server for server, _ in status["evidence"]] == ["dn1", "mds1"]


@pytest.mark.parametrize(
    ("event", "state"),
    [
        (ReplicaStored(SECOND, 2, 4), "red"),
        (ReplicaStored(SECOND, 3, 5), "green"),
    ],
)
def test_another_length_under_the_same_stamp_is_red(event: ReplicaStored, state: str) -> None:
    """A later write has another stamp, and the replica that it replaced was reported as removed."""
    story = Marked()
    story.everywhere(event)
    story.back()
    assert story.status()["state"] == state


@pytest.mark.parametrize(
    "event", [ReplicaDamaged(FIRST, 1, "at offset 0"), ReplicasFound([(SECOND, 2)], False)]
)
def test_what_rotted_or_went_with_its_disk_is_no_mistake_of_the_recovery(event: Event) -> None:
    story = Marked()
    story.everywhere(event)
    story.back()
    assert story.status()["state"] == "green"


def test_what_is_freed_after_the_recovery_is_none_either() -> None:
    story = Marked()
    story.back()
    story.everywhere(ReplicaRemoved(FIRST, 1, "freed"))
    assert story.status()["state"] == "green"


# --- later replicas --------------------------------------------------------------------------------------------------


def test_what_came_later_is_set_aside() -> None:
    story = Marked()
    story.back()
    before = story.status()["checked"]
    story.everywhere(ReplicaRemoved(LATER, 1, "set aside"), BlocksSetAside("g1", 1, 1, 9))
    status = story.status()
    assert status["state"] == "green" and status["checked"] == before + 2


def test_a_node_that_went_back_and_uses_a_later_block_is_red() -> None:
    story = Marked()
    story.back()
    story.report("dn1", ReplicaRemoved(LATER, 1, "set aside"))
    story.everywhere(BlocksSetAside("g1", 1, 1, 9))
    status = story.status()
    assert status["state"] == "red"
    assert status["explanation"].startswith(
        "dn2 has gone back with g1 in incarnation 1, and block 0001000000000007"
    )
    assert [server for server, _ in status["evidence"]] == ["dn2", "dn2"]


def test_it_is_red_also_when_the_block_was_removed_afterwards() -> None:
    story = Marked()
    story.back()
    story.everywhere(BlocksSetAside("g1", 1, 0, 0), ReplicaRemoved(LATER, 1, "freed"))
    assert story.status()["state"] == "red"


def test_what_was_freed_before_is_none() -> None:
    story = Marked()
    story.everywhere(ReplicaRemoved(LATER, 1, "freed"))
    story.back()
    story.everywhere(BlocksSetAside("g1", 1, 0, 0))
    assert story.status()["state"] == "green"


def test_the_next_incarnation_has_numbers_of_its_own() -> None:
    story = Marked()
    story.back()
    story.everywhere(ReplicaRemoved(LATER, 1, "set aside"), ReplicaStored((1 << 48) | (1 << 32), 1, 9))
    story.everywhere(BlocksSetAside("g1", 1, 1, 9))
    assert story.status()["state"] == "green"


def test_a_node_that_slept_through_two_recoveries_owes_both() -> None:
    story = Marked()
    story.back()
    story.back_to_a_later_one()
    story.report("dn1", ReplicaRemoved(LATER, 1, "set aside"))
    story.report("dn1", BlocksSetAside("g1", 2, 1, 9))
    assert story.status()["state"] == "green"
    story.report("dn2", BlocksSetAside("g1", 2, 0, 0))
    assert story.status()["state"] == "red"


def test_a_block_that_the_barrier_names_may_not_be_set_aside() -> None:
    story = Marked()
    story.back()
    story.everywhere(ReplicaRemoved(FIRST, 1, "set aside"))
    status = story.status()
    assert status["state"] == "red" and "dn1 set it aside" in status["explanation"]


def test_reports_may_come_late() -> None:
    """Traces are read one after the other: the removal is reported after the recovery, and happened before it."""
    story = Marked()
    story.everywhere(ReplicaRemoved(FIRST, 1, "freed"))
    story.back()
    *rest, first, second, back = story.events
    story.events = [*rest, back, first, second]
    assert story.status()["state"] == "red"


def test_a_copy_that_was_not_reported_to_its_end_is_compared_with_nothing() -> None:
    story = Marked()
    story.events = [s for s in story.events if not (type(s.event) is BlocksAtBarrier and not s.event.more)]
    story.everywhere(ReplicaRemoved(FIRST, 1, "freed"))
    story.back()
    assert story.status()["state"] == "green"


def test_it_is_judged_while_the_cluster_goes_on() -> None:
    story = Marked()
    story.everywhere(ReplicaRemoved(FIRST, 1, "freed"))
    story.back()
    story.now_ns += 2 * PATIENCE_NS
    story.everywhere(ReplicaStored(LATER + 1, 1, 9))
    invariants = registry.start(one_group(data=DataConfig(nodes=["dn1", "dn2"])))
    for stamped in story.events:
        invariants.on_event(stamped)
    assert [failure.invariant for failure in invariants.failures] == [NAME]


# --- two recoveries --------------------------------------------------------------------------------------------------


class MarkedTwice(Marked):
    """Checkpoint `zero` was marked before the block `first_later` and all later ones; the cluster goes back to `one`, and may go on to `zero`."""

    def __init__(self, first_later: int = FIRST) -> None:
        super().__init__()
        self.report("mds1", BarrierWritten("g1", "zero", 2, 1, 1, 1, 6, first_later))

    def further_back(self) -> None:
        self.report("mds1", TakenBack("g1", 2, "zero", 4, 1, 1, 6, 4, 4))

    def failures(self) -> list[str]:
        """Violated invariants while the cluster goes on."""
        invariants = registry.start(one_group(data=DataConfig(nodes=["dn1", "dn2"])))
        for stamped in self.events:
            invariants.on_event(stamped)
        return [failure.invariant for failure in invariants.failures]


ALL_SET_ASIDE = (
    ReplicaRemoved(FIRST, 1, "set aside"),
    ReplicaRemoved(SECOND, 2, "set aside"),
    ReplicaRemoved(LATER, 1, "set aside"),
    BlocksSetAside("g1", 2, 3, 23),
)


def test_a_recovery_to_an_earlier_checkpoint_sets_blocks_of_the_later_one_aside() -> None:
    story = MarkedTwice()
    story.back()
    story.further_back()
    story.everywhere(*ALL_SET_ASIDE)
    assert story.status()["state"] == "green"


def test_so_it_is_when_a_sleeper_reports_the_first_recovery_last() -> None:
    story = MarkedTwice()
    story.further_back()
    story.everywhere(*ALL_SET_ASIDE)
    story.back()
    assert story.status()["state"] == "green"


def test_they_may_not_be_set_aside_before_that_recovery() -> None:
    story = MarkedTwice()
    story.back()
    story.everywhere(*ALL_SET_ASIDE[:2])
    story.further_back()
    story.everywhere(*ALL_SET_ASIDE[2:])
    status = story.status()
    assert status["state"] == "red" and "set it aside" in status["explanation"]


def test_a_block_from_before_both_barriers_may_not_be_set_aside() -> None:
    story = MarkedTwice(SECOND)
    story.back()
    story.further_back()
    story.everywhere(*ALL_SET_ASIDE)
    assert story.status()["explanation"].startswith(f"checkpoint one names block {FIRST:016x} of g1")


def test_a_recovery_to_a_later_checkpoint_sets_none_aside() -> None:
    story = Marked()
    story.back()
    story.back_to_a_later_one()
    story.everywhere(*ALL_SET_ASIDE)
    status = story.status()
    assert status["state"] == "red" and "set it aside" in status["explanation"]


@pytest.mark.parametrize("reported", [True, False])
def test_the_report_of_the_second_recovery_may_come_late(reported: bool) -> None:
    """Nothing is judged by a removal whose cause may be unread. It is judged when that has waited long enough."""
    story, new = MarkedTwice(), (1 << 48) | (2 << 32)
    story.back()
    story.now_ns += PATIENCE_NS - 50 * MS
    story.further_back()
    cause = story.events.pop()
    story.everywhere(*ALL_SET_ASIDE)
    story.now_ns += PATIENCE_NS // 10
    story.everywhere(ReplicaStored(new, 1, 9))
    assert story.failures() == []
    if reported:
        story.events.append(cause)
    story.now_ns += PATIENCE_NS
    story.everywhere(ReplicaStored(new + 1, 1, 9))
    assert story.failures() == ([] if reported else [NAME, NAME])


def test_a_server_that_does_not_know_where_a_recovery_led_changes_nothing() -> None:
    story = Marked()
    story.back()
    story.report("mds2", TakenBack("g1", 1, "", 2, 0, 0, 0, 0, 0, 5))
    story.everywhere(BlocksSetAside("g1", 1, 0, 0))
    status = story.status()
    assert status["state"] == "red" and "which was numbered after the barrier" in status["explanation"]
