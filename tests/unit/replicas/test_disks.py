"""Servers that count, by the disk identities of the record."""

from __future__ import annotations

from nodes.replicas.disks import DOUBTFUL, OTHER, WHOLE, Roll
from nodes.units import DiskId

NAMED = {"a": 1, "b": 2, "c": 3}


def roll(disks: dict[str, int], votes: bool = False) -> Roll:
    return Roll("abc", disks, votes)


def test_standing() -> None:
    assert roll(NAMED).standing("a", DiskId(1)) == WHOLE
    assert roll(NAMED).standing("a", DiskId(9, (1,))) == DOUBTFUL
    assert roll(NAMED).standing("a", DiskId(9)) == OTHER
    assert roll(NAMED, votes=True).standing("a", DiskId(9)) == WHOLE
    assert roll({"b": 2}).standing("a", DiskId(9)) == OTHER
    assert roll({}).standing("a", DiskId(9)) == WHOLE
    assert roll({}).standing("a", DiskId(9, (0,))) == DOUBTFUL
    assert roll({}).standing("a", DiskId(9, (4,))) == DOUBTFUL


def test_a_doubtful_member_is_none_of_a_read_quorum() -> None:
    received = {"a": DiskId(1), "b": DiskId(9, (2,))}
    assert not roll(NAMED).suffices(2, received)
    assert roll(NAMED).suffices(2, {**received, "c": DiskId(3)})


def test_all_members_suffice_although_each_is_doubtful() -> None:
    received = {name: DiskId(9, (disk,)) for name, disk in NAMED.items()}
    assert roll(NAMED).suffices(2, received)


def test_a_replaced_disk_is_never_received() -> None:
    received = {"a": DiskId(1), "b": DiskId(8), "c": DiskId(9)}
    assert not roll(NAMED).suffices(2, received)
    assert roll(NAMED, votes=True).suffices(2, received)


def test_where_no_disk_is_named_yet_everybody_counts() -> None:
    assert roll({}).suffices(2, {"a": DiskId(1), "b": DiskId(2)})
    assert not roll({}).suffices(2, {"a": DiskId(1)})
