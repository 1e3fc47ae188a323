"""Each invariant violated by a history written by hand: it is red, and its explanation names the server."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import one_group
from nodes.invariants import registry
from nodes.metadata.records import result_sum
from nodes.trace.events import Applied, Committed, Cut, Delivered, Invoked, RoleChanged, Serving, Warned
from tests.unit.invariants.story import MS, Story, crc_of, good

CREATE = ["Create", "/a", 0o644]
SECOND = 1_000_000_000


def serving() -> Story:
    story = Story()
    story.serve("mds1", 1, 1)
    story.durable("mds2", 1)
    return story


# --- one active ---------------------------------------------------------------------------------------------


def test_two_servers_in_one_epoch() -> None:
    story = serving()
    first = story.events[2]
    second = story.report("mds3", Serving("g1", 1, 1, crc_of(1, 1)))
    status = story.invariants()["one active"]
    assert status["state"] == "red"
    assert status["explanation"] == "mds3 serves in epoch 1, which is mds1's"
    assert status["evidence"][-1] == list(second) and status["evidence"][0][0] == first.server


def test_an_answer_of_a_server_that_does_not_serve() -> None:
    story = serving()
    evidence = story.call(1, ["Stat", "/x"], (1, 0), error="ENOENT", server="mds2")
    status = story.invariants()["one active"]
    assert "mds2 answered call 1 of c in epoch 1, which is mds1's" in status["explanation"]
    assert status["evidence"][-1] == list(evidence)


def test_an_answer_of_an_epoch_that_nobody_serves() -> None:
    story = serving()
    story.call(1, ["Stat", "/x"], (1, 0), error="ENOENT", server="mds2", epoch=9)
    assert "mds2 answered call 1 of c in epoch 9, which no server serves" in story.red()["one active"]


def test_the_same_answer_is_found_without_an_end() -> None:
    story = serving()
    story.call(1, ["Stat", "/x"], (1, 0), error="ENOENT", server="mds2", epoch=9)
    story.now_ns += 20 * SECOND
    story.report("mds1", Warned("time goes on"))
    assert "no server serves" in story.red(finish=False)["one active"]


def test_a_client_that_believes_an_older_epoch() -> None:
    story = good()
    story.call(8, ["Stat", "/x"], (5, 1), error="ENOENT", server="mds1", epoch=1)
    assert "accepted call 8 from mds1 in epoch 1 after it had seen epoch 2" in story.red()["one active"]


# --- no lost write ------------------------------------------------------------------------------------------


def test_an_acknowledged_write_that_no_group_holds() -> None:
    story = serving()
    evidence = story.call(1, CREATE, (2, 1), ["Made", 2])
    status = story.invariants()["no lost write"]
    assert status["state"] == "red" and "Create(/a, 420), was acknowledged by mds1" in status["explanation"]
    assert status["evidence"] == [list(evidence)]


def test_an_active_without_the_last_committed_group() -> None:
    story = serving()
    commit = story.commit("mds1", 2, 1, 1)
    story.call(1, CREATE, (2, 1), ["Made", 2])
    served = story.report("mds2", Serving("g1", 2, 1, crc_of(1, 1)))
    status = story.invariants()["no lost write"]
    assert "ends at group 1, before committed group 2 of epoch 1: lost: call 1 of c" in status["explanation"]
    assert status["evidence"] == [list(commit), list(served)]


def test_an_active_with_another_group_in_its_place() -> None:
    story = serving()
    story.commit("mds1", 2, 1, 1)
    story.durable("mds2", 2, epoch=2)
    story.report("mds2", Serving("g1", 2, 2, crc_of(2, 2)))
    assert "mds2 serves epoch 2 and its journal holds another group 2" in story.red()["no lost write"]


def test_a_committed_group_that_is_replaced() -> None:
    story = serving()
    story.commit("mds1", 2, 1, 1)
    story.report("mds2", Committed("g1", 2, 2, crc_of(2, 2), ["mds2"], 1, []))
    red = story.red()
    assert "lost: call 1 of c" in red["no lost write"]
    assert "committed group 2 changed" in red["dense journal"]


def test_the_last_active_cut_what_was_committed() -> None:
    story = serving()
    story.commit("mds1", 2, 1, 1)
    story.report("mds1", Cut(1, "a mistake"))
    assert "ends at group 1, before committed group 2" in story.red()["no lost write"]


# --- exactly once -------------------------------------------------------------------------------------------


def test_an_operation_with_two_effects() -> None:
    story = serving()
    story.commit("mds1", 2, 1, 7)
    twice = story.commit("mds1", 3, 1, 7)
    status = story.invariants()["exactly once"]
    assert status["explanation"] == "call 7 of c has two effects: in group 2 and in group 3"
    assert status["evidence"][-1] == list(twice)


def test_an_error_for_what_was_done() -> None:
    story = serving()
    story.commit("mds1", 2, 1, 7)
    story.call(7, CREATE, (2, 1), error="EEXIST", tries=2)
    assert "was answered EEXIST and yet has an effect" in story.red()["exactly once"]


def test_an_effect_after_an_error() -> None:
    story = serving()
    story.call(7, CREATE, (1, 0), error="ENOENT")
    story.commit("mds1", 2, 1, 7)
    assert "call 7 of c, Create(/a, 420), was answered ENOENT" in story.red()["exactly once"]


def test_an_answer_that_belongs_to_another_place() -> None:
    story = serving()
    story.commit("mds1", 2, 1, 6, 7)
    story.call(7, CREATE, (2, 1), ["Made", 2])
    assert "answered as place 1 of group 2 but is place 2 of group 2" in story.red()["exactly once"]


def test_a_call_is_answered_with_another_result_than_its_record_has() -> None:
    """Reported once by the server that carried it out, whose answer was lost, and by the next one from memory."""
    for reported, right in ((["Made", 2], True), (["Made", 3], False), (["Done"], False)):
        story = serving()
        story.durable("mds1", 2)
        made = [result_sum(["Made", 2])]
        story.report("mds1", Committed("g1", 2, 1, crc_of(2, 1), ["mds1"], 1, [("c", 7)], [], made))
        story.serve("mds2", 3, 2)
        story.call(7, CREATE, (3, 0), reported, server="mds2", epoch=2, tries=2)
        found = story.red().get("exactly once", "")
        assert (found == "") is right, reported
        assert right or "the record that carried it out has another result" in found


# --- same sn same state -------------------------------------------------------------------------------------


def test_two_digests_of_one_group() -> None:
    story = Story()
    first = story.report("mds2", Applied(9, 1, 0xAB))
    second = story.report("mds3", Applied(9, 1, 0xCD))
    status = story.invariants()["same sn same state"]
    assert "mds3 and mds2 differ after group 9 of epoch 1" in status["explanation"]
    assert status["evidence"] == [list(first), list(second)]


# --- dense journal ------------------------------------------------------------------------------------------


def test_a_gap_in_a_journal() -> None:
    story = serving()
    evidence = story.durable("mds2", 3)
    status = story.invariants()["dense journal"]
    assert status["explanation"] == "mds2 wrote group 3 behind group 1"
    assert status["evidence"][-1] == list(evidence)


def test_a_sn_given_twice_in_an_epoch() -> None:
    story = serving()
    story.durable("mds1", 2, crc=5)
    story.durable("mds2", 2, crc=6)
    assert "sn 2 was given twice in epoch 1: mds2 holds another group" in story.red()["dense journal"]


def test_a_gap_in_what_is_committed() -> None:
    story = serving()
    story.durable("mds1", 2)
    story.commit("mds1", 3, 1)
    assert "mds1 committed group 3 behind group 1 in epoch 1" in story.red()["dense journal"]


@pytest.mark.parametrize("first", ["applied", "committed"])
def test_a_follower_applies_another_group_than_is_committed(first: str) -> None:
    story = serving()
    story.durable("mds2", 2)
    if first == "applied":
        evidence = story.report("mds2", Applied(2, 1, 0xAB))
    story.serve("mds3", 2, 2)
    if first == "committed":
        evidence = story.report("mds2", Applied(2, 1, 0xAB))
    status = story.invariants()["dense journal"]
    assert status["explanation"].startswith("mds2 applied another group 2 (crc 000007d1) than mds3 committed")
    assert status["evidence"][0] == list(evidence)


@pytest.mark.parametrize("role", ["active", "elected"])
def test_a_server_that_leads_applies_groups_that_are_never_committed(role: str) -> None:
    story = serving()
    story.report("mds2", RoleChanged("g1", role, 1, 1, ""))
    story.durable("mds2", 2)
    story.report("mds2", Applied(2, 1, 0xAB))
    story.serve("mds3", 2, 2)
    assert "dense journal" not in story.red()


# --- linearisable -------------------------------------------------------------------------------------------


def created() -> Story:
    story = serving()
    story.commit("mds1", 2, 1, 1)
    story.call(1, CREATE, (2, 1), ["Made", 2])
    return story


def test_a_read_that_does_not_see_the_write_before_it() -> None:
    story = created()
    evidence = story.call(2, ["Stat", "/a"], (2, 1), error="ENOENT")
    status = story.invariants()["linearisable"]
    assert "call 2 of c, Stat(/a), at place 1 of group 2 was answered ENOENT" in status["explanation"]
    assert "should have been success" in status["explanation"] and status["evidence"][-1] == list(evidence)


def test_a_stale_read_of_an_older_position() -> None:
    story = created()
    written = ("client1", 1)
    evidence = story.call(2, ["Stat", "/a"], (1, 0), error="ENOENT")
    status = story.invariants()["linearisable"]
    assert "was answered by mds1 from place 0 of group 1, though place 1 of group 2" in status["explanation"]
    assert status["evidence"] == [list(written), list(evidence)]


def test_an_old_position_is_right_for_a_call_that_began_before() -> None:
    story = serving()
    began_ns = story.now_ns
    story.commit("mds1", 2, 1, 1)
    story.call(1, CREATE, (2, 1), ["Made", 2])
    story.call(2, ["Stat", "/a"], (1, 0), error="ENOENT", invoked_ns=began_ns)
    assert story.red() == {}


def test_a_list_with_a_name_too_many() -> None:
    story = created()
    story.call(2, ["List", "/", "", 9], (2, 1), ["Listing", ["a", "b"], False])
    assert "should have been ['a']" in story.red()["linearisable"]


def test_a_write_that_should_have_been_refused() -> None:
    story = created()
    story.commit("mds1", 3, 1, 2)
    story.call(2, CREATE, (3, 1), ["Made", 3])
    assert "should have been EEXIST" in story.red()["linearisable"]


def test_attributes_and_inode_numbers() -> None:
    story = created()
    seen = ["Attributes", 2, "file", 0o600, "root", "root", 0, 0, 0, 3, 0, 1]
    story.call(2, ["Stat", "/a"], (2, 1), seen)
    assert "should have been mode 420" in story.red()["linearisable"]
    story = created()
    story.call(2, ["Stat", "/a"], (2, 1), ["Attributes", 9, "file", 0o644, "root", "root", 0, 0, 0, 3, 0, 1])
    assert "should have been inode 2" in story.red()["linearisable"]


def test_a_read_of_records_that_were_never_committed() -> None:
    story = created()
    story.call(2, ["Stat", "/b"], (3, 1), ["Attributes", 3, "file", 0o644, "", "", 0, 0, 0, 3, 0, 1])
    assert "a group that was never committed" in story.red()["linearisable"]
    story.commit("mds1", 3, 1)
    assert "but group 3 has 0 records" in story.red()["linearisable"]


def test_an_unknown_outcome_that_was_committed_counts() -> None:
    story = serving()
    story.report("client1", Invoked("c", 1, CREATE, story.now_ns))
    story.commit("mds1", 2, 1, 1)
    story.call(2, ["Stat", "/a"], (2, 1), error="ENOENT")
    assert "Stat(/a)" in story.red()["linearisable"]


def test_a_late_answer_is_compared_with_the_past() -> None:
    """The read of group 2 is reported after groups 3 and 4 removed and created the name again."""
    story = created()
    began_ns = story.now_ns
    story.commit("mds1", 3, 1, 2)
    story.call(2, ["Delete", "/a", False], (3, 1))
    story.call(9, ["Stat", "/a"], (2, 1), error="ENOENT", invoked_ns=began_ns - MS)
    assert "call 9 of c, Stat(/a), at place 1 of group 2" in story.red()["linearisable"]


def test_failures_are_events() -> None:
    story = created()
    story.call(2, ["Stat", "/a"], (2, 1), error="ENOENT")
    invariants = registry.start(one_group())
    for stamped in story.events:
        invariants.on_event(stamped)
    assert [failure.invariant for failure in invariants.failures] == ["linearisable"]


# --- same order ---------------------------------------------------------------------------------------------


def of_symmetric(*deliveries: tuple[str, int, str, int]) -> dict[str, Any]:
    """Verdict on deliveries as (server, sn, sender, counter) in view 1."""
    story = Story()
    for server, sn, sender, counter in deliveries:
        story.report(server, Delivered("g1", 1, sn, sender, counter))
    invariants = registry.start(one_group(protocol="symmetric"))
    for stamped in story.events:
        invariants.on_event(stamped)
    invariants.finish()
    return {status["invariant"]: status for status in invariants.invariants()}["same order"]


def test_two_members_deliver_in_another_order() -> None:
    one = [("mds1", 1, "mds1", 1), ("mds1", 2, "mds2", 1)]
    assert of_symmetric(*one, ("mds2", 1, "mds1", 1), ("mds2", 2, "mds2", 1))["state"] == "green"
    status = of_symmetric(*one, ("mds2", 1, "mds2", 1), ("mds2", 2, "mds1", 1))
    assert status["state"] == "red"
    assert status["explanation"] == (
        "mds2 delivered message 1 of mds2 as group 1 of view 1, where mds1 delivered message 1 of mds1"
    )


def test_a_member_leaves_a_message_out() -> None:
    status = of_symmetric(("mds1", 1, "mds1", 1), ("mds1", 3, "mds1", 3))
    assert status["explanation"] == "mds1 delivered group 3 behind group 1 in view 1"


def test_an_inode_number_that_is_given_away_twice_is_found() -> None:
    """The first of its inodes may have been removed long before."""
    story = good()
    story.commit("mds2", 6, 2, 8)
    story.call(8, ["Create", "/g", 0o644], (6, 1), ["Made", 3], server="mds2", epoch=2)
    assert "was answered inode 3, as call 2 of c was" in story.red()["inode numbers are unique"]
