"""A participant that has promised and does not know the decision yet: the client may have its answer, and others may have seen the effect."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import MILLISECOND, SECOND
from nodes.errors import FsError
from nodes.metadata.operations import (
    Append,
    Complete,
    Create,
    Delete,
    Link,
    Mkdir,
    Operation,
    Rename,
    SetTimes,
    Stat,
)
from tests.simulation.dcfs2.lab import SETTLE_NS, Groups
from tests.simulation.dcfs2.schedules import held, until_held
from tests.simulation.dcfs2.test_late_copies import make_at


def two_directories(seed: int, cross_group: str) -> Groups:
    """/a has its home in group 1, /d in group 2."""
    lab = Groups(seed, 2, 1, placement="random", cross_group=cross_group)
    make_at(lab, "/a", 1)
    make_at(lab, "/d", 2)
    return lab


def released_later(lab: Groups, decisions: Any, call: Any) -> Any:
    """The answer of a call that waits for the decision, which arrives now if it has not been answered."""
    lab.cluster.run_for(50 * MILLISECOND)
    decisions.release()
    lab.cluster.run_until(call.done, SETTLE_NS)
    return call.result().result


def known_directory(seed: int) -> Groups:
    """The empty directory /x/g of group 2, whose number ada knows."""
    lab = Groups(seed, 2, 1, placement="random", cross_group="two_phase")
    make_at(lab, "/x", 1)
    make_at(lab, "/x/g", 2)
    lab.eve.call(Create("/x/g/c"))
    lab.ada.call(Stat("/x/g/c"))
    lab.eve.call(Delete("/x/g/c"))
    return lab


@pytest.mark.parametrize("seed", range(1, 4))
def test_a_directory_that_is_being_removed_hides_no_later_one_of_its_name(seed: int) -> None:
    """The directory's group has promised the removal."""
    lab = known_directory(seed)
    decisions = held(lab, "Decision", lab.servers(2))
    lab.eve.call(Delete("/x/g"))
    until_held(lab, decisions)
    make_at(lab, "/x/g", 1)
    lab.eve.call(Create("/x/g/c"))
    read = lab.ada.spawn(Stat("/x/g/c"))
    assert released_later(lab, decisions, read).kind == "file"
    lab.finish()


@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize("cross_group", ["s2pc_mp", "two_phase"])
def test_times_of_a_directory_outlast_an_earlier_rename_into_it(seed: int, cross_group: str) -> None:
    lab = two_directories(seed, cross_group)
    lab.eve.call(Create("/a/f"))
    lab.cluster.run_until(lab.quiet)
    decisions = held(lab, "Decision", lab.servers(2))
    lab.eve.call(Rename("/a/f", "/d/f"))
    until_held(lab, decisions)
    changed = lab.eve.spawn(SetTimes("/d", 5, 5))
    released_later(lab, decisions, changed)
    lab.cluster.run_until(lab.quiet)
    assert lab.ada.call(Stat("/d")).result.mtime_ns == 5
    lab.finish()


@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize("cross_group", ["s2pc_mp", "two_phase"])
def test_a_file_that_was_replaced_is_not_completed_any_more(seed: int, cross_group: str) -> None:
    """The rename that replaced it has been answered."""
    lab = two_directories(seed, cross_group)
    make_at(lab, "/a/f", 1, Create)
    make_at(lab, "/d/g", 2, Create)
    opened = lab.ada.call(Append("/d/g"))
    lab.cluster.run_until(lab.quiet)
    decisions = held(lab, "Decision", lab.servers(2))
    lab.eve.call(Rename("/a/f", "/d/g", True))
    until_held(lab, decisions)
    completed = lab.ada.spawn(Complete(opened.result.inode, opened.number))
    with pytest.raises(FsError, match="ESTALE"):
        released_later(lab, decisions, completed)
    lab.finish()


@pytest.mark.parametrize("seed", range(1, 4))
def test_no_new_name_is_looked_up_in_a_directory_that_goes(seed: int) -> None:
    """The directory's group has promised the removal, which has been answered."""
    lab = known_directory(seed)
    lab.eve.call(Mkdir("/x/d"))
    decisions = held(lab, "Decision", lab.servers(2))
    lab.eve.call(Delete("/x/g"))
    until_held(lab, decisions)
    linked = lab.ada.spawn(Link("/x/d", "/x/g/n"))
    with pytest.raises(FsError, match="ENOENT"):
        released_later(lab, decisions, linked)
    lab.finish()


def after_refused_writer(lab: Groups, operation: Operation) -> Any:
    """The result of ada's call after she was refused to complete /a/f. Eve deletes that file, whose home is group 2: it has voted, and group 1
    receives the vote late, when a call of ada waits for it or both have been answered."""
    make_at(lab, "/a/f", 2, Create)
    opened = lab.ada.call(Append("/a/f"))
    votes = held(lab, "CommitReq", lab.servers(1))
    lab.calls.append(lab.eve.spawn(Delete("/a/f")))
    until_held(lab, votes)
    completed = lab.ada.spawn(Complete(opened.result.inode, opened.number))
    until_done(lab, completed)
    assert "ESTALE" in str(completed.exception())
    call = lab.ada.spawn(operation)
    until_done(lab, call)
    release_all(lab)
    lab.all_returned()
    return call.result().result


def until_done(lab: Groups, call: Any) -> None:
    lab.cluster.run_for(50 * MILLISECOND)
    if not call.done():
        release_all(lab)
    lab.cluster.run_until(call.done, SETTLE_NS)


def release_all(lab: Groups) -> None:
    for each in list(lab.cluster.net.holds):
        each.release()


@pytest.mark.parametrize("seed", range(1, 4))
def test_no_name_is_left_of_a_file_whose_writer_is_refused(seed: int) -> None:
    lab = two_directories(seed, "s2pc_mp")
    assert after_refused_writer(lab, Stat("/a")).entries == 0
    lab.finish()


@pytest.mark.parametrize("seed", range(1, 4))
def test_times_of_a_directory_outlast_the_end_of_a_file_whose_writer_is_refused(seed: int) -> None:
    lab = two_directories(seed, "s2pc_mp")
    after_refused_writer(lab, SetTimes("/a", 5, 5))
    assert lab.ada.call(Stat("/a")).result.mtime_ns == 5
    lab.finish()


@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize("names", [1, 2])
def test_a_directory_moves_while_a_file_waits_for_the_end_of_its_deletion(seed: int, names: int) -> None:
    """The name is gone. Only the file's own group has not learned so."""
    lab = two_directories(seed, "s2pc_mp")
    make_at(lab, "/a/f", 2, Create)
    if names == 2:
        lab.eve.call(Link("/a/f", "/d/g"))
    lab.cluster.run_until(lab.quiet)
    acknowledgements = held(lab, "Ack", lab.servers(2))
    lab.eve.call(Delete("/a/f"))
    until_held(lab, acknowledgements)
    moved = lab.eve.spawn(Rename("/a", "/b"))
    lab.cluster.run_until(moved.done, SECOND)
    assert moved.result()
    acknowledgements.release()
    lab.finish()
