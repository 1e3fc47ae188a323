"""Journal groups of one incarnation that are reported in another, and calls with an effect on both sides of a recovery."""

from __future__ import annotations

import pytest

from nodes.trace.checkpoints import BarrierWritten, TakenBack
from nodes.trace.events import Committed
from tests.unit.invariants.story import Story, crc_of

KEPT, SET_ASIDE = 1, 2
"""Numbers of a call in group 2, up to the barrier, and of one in group 4, behind it."""


def back(story: Story, server: str, next_sn: int) -> None:
    story.report(server, TakenBack("g1", 1, "k", 2, 3, crc_of(3, 1), 0, 1, 1, next_sn))


def report_again(story: Story, sn: int, *numbers: int, crc: int | None = None) -> None:
    """mds2, which takes over with epoch 3, reports a group that mds1 has reported."""
    crc = crc_of(sn, 1) if crc is None else crc
    story.report("mds2", Committed("g1", sn, 3, crc, ["mds2"], 1, [("c", number) for number in numbers]))


def up_to_recovery() -> Story:
    story = Story()
    story.serve("mds1", 1, 1)
    story.commit("mds1", 2, 1, KEPT)
    story.call(KEPT, ["Mkdir", "/d", False, 0o755], (2, 1), ["Made", 2])
    story.commit("mds1", 3, 1)
    story.report("mds1", BarrierWritten("g1", "k", 0, 3, 1, crc_of(3, 1), 0))
    story.commit("mds1", 4, 1, SET_ASIDE)
    return story


def taken_over(crc: int | None = None) -> Story:
    """The journal goes on: group 5 is the record of the rollback. mds1 applies it, then mds2, which takes over at once."""
    story = up_to_recovery()
    story.commit("mds1", 5, 1)
    back(story, "mds1", 6)
    back(story, "mds2", 6)
    report_again(story, 2, KEPT)
    report_again(story, 3)
    report_again(story, 4, SET_ASIDE, crc=crc)
    report_again(story, 5)
    story.serve("mds2", 6, 3)
    return story


def make(story: Story, sn: int, number: int) -> None:
    story.commit("mds2", sn, 3, number)
    story.call(number, ["Mkdir", "/e", False, 0o755], (sn, 1), ["Made", 9], server="mds2", epoch=3)


def test_a_call_that_was_set_aside_may_be_carried_out_again_whoever_reports_its_first_group_later() -> None:
    story = taken_over()
    make(story, 7, SET_ASIDE)
    assert story.red() == {}


def test_two_effects_in_the_new_incarnation_are_found() -> None:
    story = taken_over()
    make(story, 7, SET_ASIDE)
    story.commit("mds2", 8, 3, SET_ASIDE)
    assert "has two effects: in group 7 and in group 8" in story.red()["exactly once"]


def test_a_call_that_was_kept_has_no_second_effect() -> None:
    story = taken_over()
    story.commit("mds2", 7, 3, KEPT)
    assert "call 1 of c has two effects" in story.red()["exactly once"]


def test_another_group_in_place_of_one_that_was_set_aside_is_found() -> None:
    assert "committed group 4 changed" in taken_over(crc=7).red()["dense journal"]


@pytest.mark.parametrize("again", [False, True])
def test_where_the_journal_is_cut_a_kept_group_may_be_reported_again(again: bool) -> None:
    """Group 4 is another one now."""
    story = up_to_recovery()
    back(story, "mds2", 0)
    report_again(story, 2, KEPT)
    report_again(story, 3)
    story.serve("mds2", 4, 3)
    story.commit("mds2", 5, 3, KEPT if again else SET_ASIDE)
    assert ("exactly once" in story.red()) is again
