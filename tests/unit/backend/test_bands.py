"""Bands of the timeline: the letters of the servers over time."""

from __future__ import annotations

from backend.events.timeline import bands
from nodes.trace.base import Event
from nodes.trace.events import Configured, Placed, Stamped
from tests.unit.backend.story import MS, Story


def numbered(*events: tuple[int, Event]) -> list[tuple[int, Stamped]]:
    story = Story()
    return [(seq, story(at_ms, "coordination", event)) for seq, (at_ms, event) in enumerate(events, 1)]


def letters(*events: tuple[int, Event]) -> dict[str, str]:
    found = bands(numbered(*events), {"mds1": "g1", "mds2": "g1"}, 0, 100 * MS)
    return {row["server"]: "".join(span["letter"] for span in row["spans"]) for row in found}


def placed(server: str, state: str) -> Placed:
    return Placed("g1", server, state, 1, 0)


def test_a_member_that_the_view_leaves_out_is_not_shown_as_a_member() -> None:
    begin = [(1, placed("mds1", "member")), (1, placed("mds2", "member"))]
    both, one = Configured("g1", 1, ["mds1", "mds2"]), Configured("g1", 2, ["mds1"])
    assert letters(*begin, (2, both)) == {"mds1": "-M", "mds2": "-M"}
    assert letters(*begin, (2, both), (40, one)) == {"mds1": "-M", "mds2": "-MJ"}
    assert letters(*begin, (2, both), (40, one), (60, both)) == {"mds1": "-M", "mds2": "-MJM"}
    assert letters(*begin, (2, one), (40, placed("mds2", ""))) == {"mds1": "-M", "mds2": "-MJ-"}


def test_a_configuration_does_not_change_the_letters_of_other_roles() -> None:
    begin = [(1, placed("mds1", "active")), (1, placed("mds2", "standby"))]
    assert letters(*begin, (40, Configured("g1", 2, ["mds1"]))) == {"mds1": "-A", "mds2": "-S"}
