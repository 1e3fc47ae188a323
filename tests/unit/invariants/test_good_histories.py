"""Correct histories violate no invariant, in whatever order the servers' traces are read."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.config import one_group
from nodes.invariants import registry
from nodes.trace.checkpoints import BarrierWritten, TakenBack
from nodes.trace.events import Applied, Cut, Durable, JournalOpened, Renewing, RoleChanged, Stamped, Warned
from tests.unit.invariants.story import MS, Story, crc_of, good


def invariants_of(events: list[Stamped]) -> list[dict[str, Any]]:
    invariants = registry.start(one_group())
    for stamped in events:
        invariants.on_event(stamped)
    invariants.finish()
    return invariants.invariants()


def merged(events: list[Stamped], order: list[int]) -> list[Stamped]:
    """Each server's events in their own order, merged by `order`."""
    queues: dict[str, list[Stamped]] = {}
    for stamped in events:
        queues.setdefault(stamped.server, []).append(stamped)
    names, mixed = sorted(queues), []
    for choice in [*order, *range(len(names) * len(events))]:
        queue = queues[names[choice % len(names)]]
        if queue:
            mixed.append(queue.pop(0))
    return mixed


def test_a_failover_is_green() -> None:
    invariants = good().invariants()
    states = {name: status["state"] for name, status in invariants.items()}
    assert states.pop("same sn same state") == "grey"
    assert set(states.values()) == {"green"}
    assert invariants["linearisable"]["checked"] == 7


def test_nothing_is_grey() -> None:
    assert {status["state"] for status in Story().invariants().values()} == {"grey"}


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(0, 2), max_size=40))
def test_the_order_of_servers_does_not_matter(order: list[int]) -> None:
    mixed = merged(good().events, order)
    assert len(mixed) == len(good().events)
    assert [status["state"] for status in invariants_of(mixed) if status["state"] == "red"] == []


def test_an_adopted_group_reported_of_twice_is_harmless() -> None:
    story = good()
    story.report(
        "mds2", [each.event for each in story.events if type(each.event).__name__ == "Committed"][-1]
    )
    assert story.red() == {}


def test_one_that_served_last_need_not_hold_what_a_later_tenure_committed() -> None:
    """The later one ends before it serves, and no server serves after it."""
    story = Story()
    story.serve("mds1", 1, 1)
    story.durable("mds2", 1, 1)
    story.commit("mds2", 2, 2)
    assert story.red() == {}


def test_cut_restart_and_image_begin_a_journal_anew() -> None:
    story = Story()
    for sn in (1, 2, 3):
        story.durable("mds3", sn)
    story.report("mds3", Cut(2, "epoch 2 wrote another group 3"))
    story.durable("mds3", 3, epoch=2)
    story.report("mds3", JournalOpened(1, 2, 1, 2001, 17, 0))
    story.durable("mds3", 3, epoch=2)
    story.report("mds3", Renewing("image", 3, 90))
    story.durable("mds3", 81, epoch=2)
    assert story.red() == {}


def test_a_cut_of_what_was_not_synced_does_not_lengthen_the_journal() -> None:
    story = Story()
    story.durable("mds3", 1)
    story.report("mds3", Cut(2, "a group that was written and not yet synced"))
    story.durable("mds3", 2)
    assert story.red() == {}


def test_a_check_that_begins_in_the_middle_says_that_it_cannot_judge_results() -> None:
    story = Story()
    story.serve("mds1", 500, 7)
    story.call(900, ["Stat", "/x"], (500, 0), error="ENOENT", epoch=7)
    story.now_ns += 30_000_000_000
    story.report("mds1", Warned("time goes on"))
    status = story.invariants(finish=False)["linearisable"]
    assert status["state"] == "grey" and "before the check began" in status["explanation"]
    assert story.red() == {}


def test_reads_of_an_epoch_that_began_before_the_check() -> None:
    story = Story()
    story.call(900, ["Stat", "/x"], (500, 0), error="ENOENT", epoch=7)
    assert story.red() == {}


def test_equal_digests_are_counted() -> None:
    story = Story()
    for server in ("mds2", "mds3", "mds4"):
        story.report(server, Applied(9, 1, 77))
    assert story.invariants()["same sn same state"]["checked"] == 2


def test_a_group_of_another_epoch_may_take_an_uncommitted_sn() -> None:
    story = Story()
    story.serve("mds1", 1, 1)
    story.durable("mds1", 2, 1)
    story.durable("mds2", 1)
    story.serve("mds2", 2, 2)
    story.report("mds1", Cut(1, "epoch 2 wrote another group 2"))
    story.report("mds1", Durable(2, 2, 1, 2002, 0, 10))
    assert story.red() == {}


def older(path: str, number_of_names: int) -> Story:
    """After a file was created in `/a` and the call was answered, a directory is listed from the state before."""
    story = Story()
    story.serve("mds1", 1, 1)
    for number, name in ((1, "/a"), (2, "/b")):
        story.commit("mds1", number + 1, 1, number)
        story.call(number, ["Mkdir", name, False, 0o755], (number + 1, 1), ["Made", 10 + number])
    story.commit("mds1", 4, 1, 3)
    story.call(3, ["Create", "/a/f", 0o644], (4, 1), ["Made", 20])
    names = ["f"] * number_of_names
    story.call(4, ["List", path, "", 1000], (3, 1), ["Listing", names, False])
    return story


def test_a_read_from_an_older_state_stands_where_it_sees_no_difference() -> None:
    assert older("/b", 0).red() == {}
    assert "was answered by mds1 from place 1 of group 3" in older("/a", 0).red()["linearisable"]


def test_calls_of_an_added_server_count_from_the_barrier_on_that_it_went_back_to() -> None:
    """An answer before the recovery, at a later journal position, is no bound for calls after the recovery."""
    story = Story()
    story.serve("mds1", 1, 1)
    story.commit("mds1", 2, 1)
    story.report("mds1", BarrierWritten("g1", "k", 0, 2, 1, crc_of(2, 1), 0))
    for number in (3, 4, 5):
        story.commit("mds1", number, 1, number)
        story.call(number, ["Mkdir", f"/{number}", False, 0o755], (number, 1), ["Made", 10 + number])
    story.report("mds9", RoleChanged("g1", "standby", 1, 5, ""))
    story.report("mds9", TakenBack("g1", 1, "k", 2, 2, crc_of(2, 1), 0, 3, 3))
    story.serve("mds9", 3, 3)
    story.call(6, ["List", "/", "", 1000], (3, 0), ["Listing", [], False], server="mds9", epoch=3)
    assert story.red() == {}


def gone_back_often(times: int) -> Story:
    """One server goes back to the same checkpoint again and again, and a call is answered in each incarnation."""
    story = Story()
    story.serve("mds1", 1, 1)
    story.commit("mds1", 2, 1)
    story.report("mds1", BarrierWritten("g1", "k", 0, 2, 1, crc_of(2, 1), 0))
    for number in range(1, times + 1):
        story.now_ns += 2_000 * MS
        epoch = number + 2
        story.report("mds1", TakenBack("g1", number, "k", 2, 2, crc_of(2, 1), 0, epoch, 3))
        story.commit("mds1", 3, epoch, number)
        story.call(number, ["Mkdir", "/d", False, 0o755], (3, 1), ["Made", 10 + number], epoch=epoch)
    return story


def test_models_of_incarnations_that_are_over_are_not_kept_but_their_verdicts_are() -> None:
    checks = registry.start(one_group())
    for stamped in gone_back_often(50).events:
        checks.on_event(stamped)
    checks.finish()
    rows = {row["invariant"]: row for row in checks.invariants()}
    assert (rows["linearisable"]["state"], rows["linearisable"]["checked"]) == ("green", 50)
    assert checks.failures == [] and len(checks._incarnations) == registry.INCARNATIONS_KEPT
