"""The damage that a cluster is guaranteed to survive, and losses that are no bug."""

from __future__ import annotations

import pytest

from nodes.config import JournalConfig, one_group
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


@pytest.mark.parametrize("torn", ["sectors", "any"])
def test_a_torn_tail_counts_beside_a_replaced_disk(torn: str) -> None:
    """It may look like rot: only one of three journals is certainly whole."""
    atlas = Atlas(one_group(2))
    atlas.note("power_loss", ["mds2"], torn)
    assert not atlas.beyond and atlas.damaged("g1") == ["mds2"]
    atlas.note("new_disk", ["mds3"])
    assert "g1 survives the loss of 1 disks, not of 2" in atlas.beyond


def test_torn_tails_alone_are_within_the_promise() -> None:
    atlas = Atlas(one_group(2))
    atlas.note("power_loss", ["mds1", "mds2", "mds3"], "sectors")
    assert not atlas.beyond and len(atlas.damaged("g1")) == 3


@pytest.mark.parametrize("torn", ["prefix", "nothing", "everything", "zeros", ""])
def test_tears_that_cannot_be_taken_for_rot_do_not_count(torn: str) -> None:
    atlas = Atlas(one_group(2))
    atlas.note("power_loss", ["mds2"], torn)
    atlas.note("new_disk", ["mds3"])
    assert not atlas.beyond


def test_a_torn_server_beside_a_shared_journal_does_not_count() -> None:
    atlas = Atlas(one_group(2, protocol="qjm", journal=JournalConfig(nodes=["jn1", "jn2", "jn3"])))
    atlas.note("power_loss", ["mds2"], "sectors")
    assert atlas.damaged("g1") == []
    atlas.note("power_loss", ["jn1"], "sectors")
    atlas.note("new_disk", ["jn2"])
    assert "journal survives the loss of 1 disks" in atlas.beyond
