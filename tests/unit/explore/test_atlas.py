"""What a cluster promises to survive, and when a loss is nobody's mistake."""

from __future__ import annotations

import pytest

from nodes.config import one_group
from nodes.explore.atlas import Atlas


@pytest.mark.parametrize(("size", "rotten"), [(1, True), (2, False), (3, False)])
def test_rot_of_one_journal_may_lose_something_only_where_there_is_no_other(size: int, rotten: bool) -> None:
    atlas = Atlas(one_group(size - 1))
    atlas.note("corrupt", ["mds1"], "journal_tail")
    assert bool(atlas.rotten) is rotten
    assert bool(atlas.beyond) is (size < 3)


def test_rot_of_every_journal_may_lose_something() -> None:
    atlas = Atlas(one_group(1))
    atlas.note("corrupt", ["mds1", "mds2"], "journal")
    assert atlas.rotten == "g1"


def test_a_configuration_that_shrank_counts() -> None:
    atlas = Atlas(one_group(1))
    atlas.configured["g1"] = 1
    atlas.note("corrupt", ["mds2"], "journal_tail")
    assert atlas.rotten == "g1"


@pytest.mark.parametrize(("verb", "what"), [("new_disk", ""), ("gone", ""), ("corrupt", "image")])
def test_other_damage_is_noticed_by_the_servers(verb: str, what: str) -> None:
    atlas = Atlas(one_group(0))
    atlas.note(verb, ["mds1"], what)
    assert atlas.beyond and not atlas.rotten
