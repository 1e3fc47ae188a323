"""The invariant `one primary view`: each violation by hand."""

from __future__ import annotations

from typing import Any

from nodes.config import one_group
from nodes.invariants import registry
from nodes.trace.events import Serving
from tests.unit.invariants.story import MS, Story

STAT = ["Stat", "/a"]


def begins(story: Story, server: str, number: int, members: list[str], sn: int = 0, crc: int = 0) -> None:
    story.report(server, Serving("g1", number, sn, crc, members))


def answers(story: Story, server: str, view: int, number: int = 1, **more: Any) -> None:
    story.call(number, STAT, (0, 0), error="ENOENT", server=server, epoch=view, **more)


def status_of(story: Story) -> dict[str, Any]:
    invariants = registry.start(one_group(protocol="symmetric"))
    for stamped in story.events:
        invariants.on_event(stamped)
    invariants.finish()
    return {status["invariant"]: status for status in invariants.invariants()}["one primary view"]


def two_views() -> Story:
    story = Story()
    for server in ("mds1", "mds2"):
        begins(story, server, 1, ["mds1", "mds2"])
    answers(story, "mds1", 1)
    answers(story, "mds2", 1, 2)
    begins(story, "mds2", 2, ["mds2"])
    return story


def test_views_that_follow_each_other_are_right() -> None:
    story = two_views()
    asked_ns = story.now_ns
    answers(story, "mds2", 2, 3)
    answers(story, "mds1", 1, 4, invoked_ns=asked_ns - 3 * MS)
    status = status_of(story)
    assert status["state"] == "green" and status["checked"] >= 7


def test_two_views_of_one_number() -> None:
    story = two_views()
    begins(story, "mds1", 2, ["mds1"])
    assert status_of(story)["explanation"] == (
        "there are two views 2: mds1 begins one of mds1 behind group 0 (crc 00000000), "
        "mds2 one of mds2 behind group 0 (crc 00000000)"
    )


def test_one_view_that_begins_behind_two_groups() -> None:
    story = Story()
    begins(story, "mds1", 1, ["mds1", "mds2"], 7, 1)
    begins(story, "mds2", 1, ["mds1", "mds2"], 7, 2)
    assert "behind group 7 (crc 00000002)" in status_of(story)["explanation"]


def test_a_server_begins_a_view_that_is_without_it() -> None:
    story = Story()
    begins(story, "mds3", 1, ["mds1", "mds2"])
    assert status_of(story)["explanation"] == "mds3 begins view 1, which is without it"


def test_a_server_goes_back_to_an_older_view() -> None:
    story = two_views()
    begins(story, "mds2", 1, ["mds1", "mds2"])
    assert status_of(story)["explanation"] == "mds2 begins view 1 after view 2"


def test_a_server_answers_in_a_view_that_is_without_it() -> None:
    story = two_views()
    answers(story, "mds1", 2, 3)
    reported = "mds1 answered call 3 in view 2, which has the members mds2"
    assert status_of(story)["explanation"] == reported
    early = Story()
    answers(early, "mds1", 2, 3)
    begins(early, "mds2", 2, ["mds2"])
    assert status_of(early)["explanation"] == reported


def test_an_older_view_answers_behind_a_newer_one() -> None:
    """Either answer may be reported first."""
    for late_first in (False, True):
        story = two_views()
        newer_ns, older_ns = story.now_ns + MS, story.now_ns + 5 * MS
        reported = [("mds2", 2, 3, newer_ns), ("mds1", 1, 4, older_ns)]
        for server, view, number, invoked_ns in reversed(reported) if late_first else reported:
            story.now_ns = invoked_ns
            answers(story, server, view, number, invoked_ns=invoked_ns)
        expected = "mds1 answered a read in view 1 that was asked after view 2 had answered"
        assert status_of(story)["explanation"] == expected


def test_a_member_of_the_newer_view_may_read_on_and_not_write() -> None:
    story = Story()
    begins(story, "mds1", 1, ["mds1", "mds2"])
    begins(story, "mds1", 2, ["mds1", "mds2"])
    answers(story, "mds1", 2)
    answers(story, "mds2", 1, 2)
    assert status_of(story)["state"] == "green"
    story.call(3, ["Mkdir", "/a", False, 0o755], (1, 1), server="mds2", epoch=1)
    expected = "mds2 answered a write in view 1 that was asked after view 2 had answered"
    assert status_of(story)["explanation"] == expected
