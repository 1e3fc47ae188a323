"""A name can reach the home of its file before that group has received the decision to create the file."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Create, Delete, Link, Made, Rename, SetTimes, Stat
from nodes.units import home_group
from tests.simulation.dcfs2.lab import Groups
from tests.simulation.dcfs2.schedules import directory_of


def named_before_made(lab: Groups, made_at: str, path: str) -> Any:
    """A file of group 1 that has this name there, while the decision to create it is on its way; returns the hold."""
    late: list[int] = []

    def match(sender: str, receiver: str, message: Any) -> bool:
        if type(message).__name__ != "Decision" or receiver not in lab.servers(1):
            return False
        late[:] = late or [message.seq]
        return bool(message.seq == late[0])

    for number in range(8):
        late.clear()
        hold = lab.cluster.hold(match)
        made = lab.ada.call(Create(f"{made_at}/{number}")).result
        assert isinstance(made, Made)
        if home_group(made.inode) == 1:
            lab.ada.call(Rename(f"{made_at}/{number}", path))
            return hold
        hold.drop()
    raise AssertionError("no file came to group 1")


def two_directories() -> Groups:
    """/d11 has its home in group 1, /d22 in group 2."""
    lab = Groups(0, 2, 0, placement="random", cross_group="two_phase")
    here, there = directory_of(lab, 1), directory_of(lab, 2)
    for old, new in ((here, "/d11"), (there, "/d22")):
        if old != new:
            lab.ada.call(Rename(old, new))
    return lab


@pytest.mark.parametrize(
    "operation",
    [
        Delete("/d11/f"),
        Stat("/d11/f"),
        SetTimes("/d11/f", 5, 5),
        Rename("/d11/f", "/d11/g"),
        Link("/d11/f", "/d11/g"),
        Link("/d11/f", "/d22/g"),
    ],
)
def test_nothing_is_done_to_it_before_it_is_made(operation: Any) -> None:
    lab = two_directories()
    hold = named_before_made(lab, "/d22", "/d11/f")
    call = lab.eve.spawn(operation)
    lab.cluster.run_for(SECOND // 2)
    assert not call.done()
    hold.release()
    lab.calls.append(call)
    lab.all_returned()
    assert call.exception() is None
    lab.finish()


@pytest.mark.parametrize("cut_short", [False, True])
def test_it_is_not_reclaimed_before_it_is_made(cut_short: bool) -> None:
    """Its directory is deleted with all that is in it. `cut_short`: the group's server starts anew in between."""
    lab = two_directories()
    hold = named_before_made(lab, "/d22", "/d11/f")
    lab.eve.call(Delete("/d11", True))
    lab.cluster.run_for(SECOND)
    assert lab.pages()[0].orphans
    if cut_short:
        server = lab.active(1)
        lab.cluster.faults.crash(server)
        lab.cluster.faults.restart(server)
        lab.settle()
        lab.cluster.run_for(SECOND)
    hold.release()
    lab.finish()
    assert not lab.pages()[0].orphans
