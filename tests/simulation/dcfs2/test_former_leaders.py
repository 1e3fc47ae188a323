"""A leader that was deposed and does not know it still answers other groups that believe in it: what it says changes nothing."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import MILLISECOND, SECOND
from nodes.errors import FsError
from nodes.metadata.operations import Create, Delete, Mkdir, Rename, Stat
from nodes.protocols.dcfs2.messages import Decision
from nodes.sim.ensemble import COORDINATION
from nodes.trace.events import Serving
from nodes.units import home_group
from tests.simulation.dcfs2.lab import Groups

CUT_MS = (("session", 4_500), ("members", 300))
"""A moment between the fault and the election that follows it, by the kind of detection."""


def made_at(lab: Groups, path: str, group: int) -> None:
    for _ in range(60):
        if home_group(lab.eve.call(Mkdir(path)).result.inode) == group:
            return
        lab.eve.call(Delete(path))
    raise AssertionError(f"{path} is never at home in g{group}")


def rooms(detection: str) -> Groups:
    """A directory /a of group 2 and /b of group 3; the directories in them are of group 1. Both clients know all paths."""
    lab = Groups(1, 3, 2, placement="random", detection=detection)
    made_at(lab, "/a", 2)
    made_at(lab, "/b", 3)
    made_at(lab, "/a/x", 1)
    lab.eve.call(Create("/a/x/f"))
    made_at(lab, "/a/w", 1)
    for client in (lab.ada, lab.eve):
        client.call(Stat("/a/x"))
        client.call(Stat("/b"))
    lab.ada.call(Rename("/a/w", "/b/w"))
    lab.cluster.run_for(3 * SECOND)
    return lab


def deposed(lab: Groups, group: int, clients: tuple[str, ...], unaware: str, cut_ms: int) -> tuple[str, str]:
    """Cuts the group's leader from coordination, its members and these clients, and a little later `unaware` from coordination. Returns the
    deposed leader and the next one."""
    faults, before = lab.cluster.faults, lab.active(group)
    others = [name for name in lab.servers(group) if name != before]
    for name in (COORDINATION, *others, *clients):
        faults.do("cut", [before, name])
    since = len(lab.cluster.events)
    lab.cluster.run_for(cut_ms * MILLISECOND)
    faults.do("cut", [unaware, COORDINATION])

    def serving() -> list[str]:
        return [each.server for each in lab.cluster.events[since:] if type(each.event) is Serving]

    lab.cluster.run_until(lambda: any(name in others for name in serving()), 20 * SECOND)
    return before, next(name for name in serving() if name in others)


def exists(lab: Groups, path: str) -> bool:
    try:
        lab.eve.call(Stat(path))
    except FsError:
        return False
    return True


@pytest.mark.parametrize(("detection", "cut_ms"), CUT_MS)
def test_it_aborts_no_operation_of_its_successor(detection: str, cut_ms: int) -> None:
    """It has not begun the operation about which it is asked; its successor commits it."""
    lab = rooms(detection)
    voter = lab.active(3)
    before, now = deposed(lab, 2, ("ada",), voter, cut_ms)
    late = lab.cluster.hold(
        lambda sender, to, message: (sender, to, type(message)) == (before, voter, Decision)
    )
    own = lab.cluster.hold(lambda sender, to, message: (sender, to, type(message)) == (now, voter, Decision))
    renamed = lab.ada.spawn(Rename("/a/x", "/b/x"))
    lab.calls.append(renamed)
    lab.cluster.run_for(800 * MILLISECOND)
    lab.cluster.faults.do("heal", [voter, COORDINATION])
    lab.cluster.run_for(1_500 * MILLISECOND)
    late.release()
    lab.cluster.run_for(50 * MILLISECOND)
    own.release()
    lab.cluster.run_until(renamed.done, 20 * SECOND)
    lab.finish()
    assert exists(lab, "/b/x/f") and not exists(lab, "/a/x")


@pytest.mark.parametrize(("detection", "cut_ms"), CUT_MS)
def test_it_reports_no_name_without_a_lease(detection: str, cut_ms: int) -> None:
    """Its successor has deleted the name that is in the way of a rename."""
    lab = rooms(detection)
    made_at(lab, "/b/x", 3)
    lab.cluster.run_for(SECOND)
    deposed(lab, 3, ("ada", "eve"), lab.active(2), cut_ms)
    lab.eve.call(Delete("/b/x"))
    renamed: Any = lab.ada.spawn(Rename("/a/x", "/b/x"))
    lab.cluster.run_for(2_500 * MILLISECOND)
    lab.cluster.faults.heal_all()
    lab.cluster.run_until(renamed.done, 20 * SECOND)
    assert renamed.exception() is None
    lab.finish()
