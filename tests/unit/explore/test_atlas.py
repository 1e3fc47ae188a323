"""The damage that a cluster is guaranteed to survive, and losses that are no bug."""

from __future__ import annotations

import pytest

from nodes.config import SECOND, JournalConfig, Timing, one_group
from nodes.explore.atlas import Atlas
from nodes.explore.ordered_removals import unnoticed_ns

GONE_NS = 60 * SECOND
SOON_NS = GONE_NS + unnoticed_ns(Timing())
"""The last moment at which the loss of a machine at `GONE_NS` may not have been noticed yet."""


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


@pytest.mark.parametrize(
    ("members", "is_read", "rotten"), [(1, False, True), (1, True, False), (2, False, False)]
)
def test_servers_that_shrink_to_a_rotten_journal_cannot_know(
    members: int, is_read: bool, rotten: bool
) -> None:
    """Those that have opened it since know, and a whole one has everything."""
    atlas = Atlas(one_group(2, protocol="symmetric"))
    atlas.note("corrupt", ["mds1"], "journal")
    if is_read:
        atlas.open_journal("mds1")
    atlas.configure("g1", ["mds1", "mds2"][:members], GONE_NS)
    assert bool(atlas.rotten) is bool(atlas.beyond) is rotten


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


def gone(*names: str, standbys: int = 2, protocol: str = "2pc") -> Atlas:
    atlas = Atlas(one_group(standbys, protocol=protocol))
    atlas.note("gone", list(names), at_ns=GONE_NS)
    assert not atlas.beyond
    return atlas


@pytest.mark.parametrize("protocol", ["2pc", "mams"])
@pytest.mark.parametrize("order", [("gone", "remove_server"), ("remove_server", "gone")])
def test_a_person_removes_a_server_when_another_one_has_just_been_lost(
    order: tuple[str, str], protocol: str
) -> None:
    atlas = Atlas(one_group(2, protocol=protocol))
    for verb in order:
        atlas.note(verb, ["mds3" if verb == "gone" else "mds2"], at_ns=GONE_NS)
    assert not atlas.beyond
    atlas.configure("g1", ["mds1", "mds3"], SOON_NS)
    assert atlas.beyond == "mds2 was removed on request, and g1 counted mds3, which had just been lost"


def test_a_loss_that_must_have_been_noticed_forbids_the_removal() -> None:
    atlas = gone("mds3")
    atlas.note("remove_server", ["mds2"], at_ns=GONE_NS)
    atlas.configure("g1", ["mds1", "mds3"], SOON_NS + 1)
    assert not atlas.beyond


def test_servers_answer_for_a_removal_that_nobody_asked_for() -> None:
    atlas = gone("mds3")
    atlas.configure("g1", ["mds1", "mds3"], GONE_NS)
    assert not atlas.beyond


def test_servers_answer_for_a_removal_by_a_later_leader() -> None:
    """It does not know of the order."""
    atlas = Atlas(one_group(2, protocol="2pc"))
    atlas.begin_tenure("g1", 1)
    atlas.note("remove_server", ["mds2"], at_ns=GONE_NS)
    atlas.begin_tenure("g1", 2)
    atlas.note("gone", ["mds3"], at_ns=GONE_NS)
    atlas.configure("g1", ["mds1", "mds3"], GONE_NS)
    assert not atlas.beyond


def test_a_removal_that_leaves_enough_is_within_the_promise() -> None:
    atlas = gone("mds5", standbys=4)
    atlas.note("remove_server", ["mds2"], at_ns=GONE_NS)
    atlas.configure("g1", ["mds1", "mds3", "mds4", "mds5"], GONE_NS)
    assert not atlas.beyond and atlas.survives("g1") == 2


def test_the_removal_of_the_lost_server_is_within_the_promise() -> None:
    atlas = gone("mds3")
    atlas.note("remove_server", ["mds3"], at_ns=GONE_NS)
    atlas.configure("g1", ["mds1", "mds2"], GONE_NS)
    assert not atlas.beyond
