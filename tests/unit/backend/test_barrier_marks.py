"""Barriers in the journals and on the timeline."""

from __future__ import annotations

from backend.events.journal import standing
from backend.events.timeline import barriers
from nodes.trace.checkpoints import BarrierWritten, TakenBack
from tests.unit.backend.story import MS, Story


def written(name: str, sn: int, group: str = "g1") -> BarrierWritten:
    return BarrierWritten(group, name, 7, sn, 1, 3, 4)


def back(sn: int, incarnation: int = 1) -> TakenBack:
    return TakenBack("g1", incarnation, "monday", 2, sn, 3, 4, 5, 6)


def test_a_recovery_takes_later_barriers_away_and_no_newer_ones() -> None:
    story = Story()
    before = [
        story(1, "mds1", written("monday", 10)),
        story(2, "mds4", written("monday", 99, "g2")),
        story(3, "mds1", written("tuesday", 20)),
    ]
    assert standing(before, "g1") == {10: "monday", 20: "tuesday"}
    after = [*before, story(4, "mds1", back(10)), story(5, "mds1", written("friday", 15))]
    assert standing(after, "g1") == {10: "monday", 15: "friday"}
    late = [*after, story(6, "mds2", back(10))]
    assert standing(late, "g1") == standing(after, "g1"), "a server that returns late changes nothing"
    assert standing(late, "g2") == {99: "monday"}
    assert standing([*late, story(7, "mds3", back(0, 2))], "g1") == standing(late, "g1")


def test_the_timeline_has_one_mark_for_all_groups_of_a_checkpoint() -> None:
    story = Story()
    found = [
        (1, story(5, "mds1", written("monday", 10))),
        (2, story(6, "mds4", written("monday", 99, "g2"))),
        (3, story(50, "mds1", written("later", 11))),
    ]
    assert barriers(found, 0, 20 * MS) == [{"name": "monday", "at_ns": 5 * MS, "groups": ["g1", "g2"]}]
