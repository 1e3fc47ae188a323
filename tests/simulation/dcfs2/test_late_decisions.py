"""A participant that has promised and does not know the decision yet: the client may have its answer, and others may have seen the effect."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import MILLISECOND
from nodes.errors import FsError
from nodes.metadata.operations import Append, Complete, Create, Delete, Rename, SetTimes, Stat
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


@pytest.mark.parametrize("seed", range(1, 4))
def test_a_directory_that_is_being_removed_hides_no_later_one_of_its_name(seed: int) -> None:
    """Ada knows the removed directory by its number. Its group has promised the removal."""
    lab = Groups(seed, 2, 1, placement="random", cross_group="two_phase")
    make_at(lab, "/x", 1)
    make_at(lab, "/x/g", 2)
    lab.eve.call(Create("/x/g/c"))
    lab.ada.call(Stat("/x/g/c"))
    lab.eve.call(Delete("/x/g/c"))
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
