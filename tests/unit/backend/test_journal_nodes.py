"""Journal nodes in the picture, and the shapes that families allow."""

from __future__ import annotations

import random

import pytest

from backend.errors import Malformed
from backend.fabrics.targets import resolve
from backend.picture import Picture
from backend.shape import Shape, new_config
from nodes.trace import events as e
from tests.unit.backend.story import Story


def test_a_journal_node_is_made_from_events() -> None:
    story, picture = Story(), Picture.of(new_config(Shape(protocol="qjm"), "clover"), {}, [])
    for at_ms, (server, event) in enumerate(
        (
            ("jn1", e.Started(7, "127.0.0.1:1", 0)),
            ("jn1", e.JournalStored(12, 3, 2)),
            ("control", e.FaultInjected(1, "pause", ["jn1"], {})),
        )
    ):
        picture.apply(story(at_ms, server, event), 0)
    node = picture.nodes["jn1"]
    assert (node.process, node.figures, node.faults) == ("paused", {"sn": 12, "epoch": 3}, [1])
    picture.apply(story(9, "control", e.FaultEnded(1, "pause", ["jn1"])), 0)
    assert (node.process, node.faults) == ("running", [])
    assert resolve("jn2", picture, random.Random(1)) == ["jn2"]


def test_a_family_says_what_stands_beside_its_servers() -> None:
    assert new_config(Shape(protocol="bookkeeper"), "c").journal.nodes == [f"bookie{n}" for n in range(1, 5)]
    assert new_config(Shape(), "c").journal.nodes == []
    assert len(new_config(Shape(protocol="single"), "c").groups[0].members) == 1
    for shape, line in (
        (Shape(protocol="single", standbys=1), "0 standbys at most"),
        (Shape(protocol="symmetric", groups=2), "1 group at most"),
        (Shape(protocol="raft"), "there is mams, single, 2pc"),
    ):
        with pytest.raises(Malformed, match=line):
            new_config(shape, "c")
