"""The invariant of blocks on histories written by hand: correct ones are green in any order, wrong ones red."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.config import DataConfig, one_group
from nodes.invariants import registry
from nodes.invariants.checker import PATIENCE_NS
from nodes.trace.block_events import (
    BlockHealth,
    FileCalled,
    ReplicaDamaged,
    ReplicaRemoved,
    ReplicasFound,
    ReplicaStored,
)
from nodes.trace.checkpoints import TakenBack
from nodes.trace.events import FaultInjected, Serving, Stamped
from tests.unit.invariants.story import Story
from tests.unit.invariants.test_good_histories import merged

BLOCK = (1 << 48) | 5
CLUSTER = one_group(data=DataConfig(nodes=["dn1", "dn2", "dn3", "dn4"]))


def verdict(events: list[Stamped], finish: bool = True) -> tuple[str, str]:
    invariants = registry.start(CLUSTER)
    for stamped in events:
        invariants.on_event(stamped)
    if finish:
        invariants.finish()
    status = next(each for each in invariants.invariants() if each["invariant"] == "blocks kept")
    return status["state"], status["explanation"]


def health(state: str, *holders: str, stamp: int = 1) -> BlockHealth:
    return BlockHealth("g1", 1, BLOCK, stamp, 9, state, list(holders))


def written() -> Story:
    """Three replicas, one of which is damaged and replaced by a fourth node's."""
    story = Story()
    for name in ("dn1", "dn2", "dn3"):
        story.report(name, ReplicasFound([], False))
        story.report(name, ReplicaStored(BLOCK, 1, 9))
    story.report("dn1", ReplicaDamaged(BLOCK, 1, "at offset 0"))
    story.report("dn1", ReplicaRemoved(BLOCK, 1, "damaged"))
    story.report("mds1", health("under", "dn2", "dn3"))
    story.report("dn4", ReplicaStored(BLOCK, 1, 9))
    story.report("mds1", health("whole", "dn2", "dn3", "dn4"))
    story.report("dn2", ReplicasFound([(BLOCK, 1)], False))
    story.report("dn3", ReplicaRemoved(BLOCK, 1, "excess"))
    story.report("mds1", health("freed"))
    return story


@given(st.lists(st.integers(0, 5), max_size=40))
def test_copies_in_the_place_of_a_damaged_one_are_green_in_any_order(order: list[int]) -> None:
    assert verdict(merged(written().events, order)) == ("green", "")


def test_a_cluster_without_data_nodes_has_no_such_invariant() -> None:
    assert "blocks kept" not in written().invariants()


@pytest.mark.parametrize("reason", ["excess", "stale", "damaged"])
def test_the_last_replica_may_only_go_with_its_file(reason: str) -> None:
    story = written()
    story.report("dn2", ReplicaRemoved(BLOCK, 1, "freed"))
    assert verdict(story.events)[0] == "green"
    story.report("dn4", ReplicaRemoved(BLOCK, 1, reason))
    state, why = verdict(story.events)
    assert state == "red" and f"as {reason}" in why


def freed_and_named_again(*later: tuple[str, Serving | ReplicaStored]) -> tuple[str, str]:
    """All replicas are removed as freed; then an active reports that a file's block is missing."""
    story = written()
    for name in ("dn2", "dn4"):
        story.report(name, ReplicaRemoved(BLOCK, 1, "freed"))
    for server, event in later:
        story.report(server, event)
    story.report("mds1", health("missing"))
    return verdict(story.events)


def test_a_block_that_a_file_names_was_not_free() -> None:
    state, why = freed_and_named_again()
    assert state == "red" and "dn2 had removed as freed" in why


def test_who_is_deposed_may_name_what_was_deleted_since() -> None:
    assert freed_and_named_again(("mds2", Serving("g1", 2, 1, 0, []))) == ("green", "")


def test_a_block_that_another_node_still_has_is_not_lost() -> None:
    assert freed_and_named_again(("dn1", ReplicaStored(BLOCK, 1, 9))) == ("green", "")


def test_a_block_that_was_missing_before_its_file_was_deleted_is_no_loss() -> None:
    story = written()
    story.report("mds1", health("missing"))
    for name in ("dn2", "dn4"):
        story.report(name, ReplicaRemoved(BLOCK, 1, "freed"))
    assert verdict(story.events) == ("green", "")


def test_an_older_replica_does_not_stand_for_a_newer_one() -> None:
    story = Story()
    story.report("dn1", ReplicaStored(BLOCK, 1, 9))
    story.report("dn2", ReplicaStored(BLOCK, 2, 9))
    story.report("dn2", ReplicaRemoved(BLOCK, 2, "stale"))
    assert verdict(story.events)[0] == "red"


def test_a_replica_that_was_not_found_again_is_gone() -> None:
    story = written()
    story.report("dn4", ReplicasFound([], False))
    story.report("dn2", ReplicaRemoved(BLOCK, 1, "excess"))
    assert verdict(story.events)[0] == "red"


@pytest.mark.parametrize(("node", "state"), [("dn4", "green"), ("dn9", "red")])
def test_the_replica_that_was_to_stay_may_be_lost_with_its_disk_meanwhile(node: str, state: str) -> None:
    story = written()
    story.report("control", FaultInjected(1, "new_disk", [node], {}))
    story.report("dn4", ReplicasFound([], False))
    story.report("dn2", ReplicaRemoved(BLOCK, 1, "excess"))
    assert verdict(story.events)[0] == state


@pytest.mark.parametrize(
    ("event", "says"),
    [
        (health("whole", "dn2", "dn9"), "names dn9"),
        (health("whole", "dn2", stamp=2), "with stamp 2"),
        (health("missing", "dn2"), "is missing and names 1"),
        (health("whole"), "is whole and names 0"),
        (health("freed", "dn2"), "is freed and names 1"),
    ],
)
def test_the_map_names_what_is_there(event: BlockHealth, says: str) -> None:
    story = written()
    story.report("mds1", event)
    state, why = verdict(story.events)
    assert state == "red" and says in why


def test_a_report_may_be_late_but_not_for_long() -> None:
    story = written()
    story.report("mds1", health("whole", "dn2", "dn3", "dn4"))
    assert verdict(story.events)[0] == "green"
    late = story.events.pop()
    story.events.append(msgspec.structs.replace(late, at_ns=late.at_ns + 2 * PATIENCE_NS))
    assert "names dn3" in verdict(story.events)[1]


def read(wrong_at: int = -1, lacking_ns: int = 0, error: str = "") -> FileCalled:
    return FileCalled("c", "get", "/f", 100, 1, 2, error, wrong_at, lacking_ns)


def test_a_file_that_holds_what_was_written_is_green() -> None:
    story = Story()
    story.report("client1", read())
    assert verdict(story.events) == ("green", "")


def test_other_bytes_than_were_written_are_red() -> None:
    story = Story()
    story.report("client1", read(wrong_at=512, error="EBADMSG"))
    state, why = verdict(story.events, finish=False)
    assert state == "red" and "from byte 512 on" in why


def test_what_was_acknowledged_and_is_not_there_is_red() -> None:
    story = Story()
    story.report("client1", read(lacking_ns=1, error="ENOENT"))
    state, why = verdict(story.events)
    assert state == "red" and "acknowledged" in why


def test_a_recovery_may_set_it_aside_and_what_comes_later_it_may_not() -> None:
    story = Story()
    story.report("client1", read(lacking_ns=1))
    story.report("mds1", TakenBack("g1", 1, "noon", 2, 5, 5, 5, 3, 3))
    taken_ns = story.now_ns
    assert verdict(story.events) == ("green", "")
    story.report("client1", read(lacking_ns=taken_ns + 1))
    assert verdict(story.events)[0] == "red"


def test_blocks_that_were_stored_before_a_recovery_are_known_after_it() -> None:
    story = Story()
    story.report("dn1", ReplicaStored(BLOCK, 1, 9))
    story.report("mds1", TakenBack("g1", 1, "noon", 2, 5, 5, 5, 3, 3))
    story.report("mds1", health("under", "dn1"))
    assert verdict(story.events) == ("green", "")
