"""Disks that are replaced, and journals that are damaged at their end or before it (safety rule 23)."""

from __future__ import annotations

import pytest

from nodes.metadata.operations import Mkdir, Stat
from nodes.trace.events import JournalOpened, Warned
from tests.simulation.symmetric.lab import SymmetricLab


def stopped(seed: int, members: int = 3) -> SymmetricLab:
    """All members are stopped; every disk has the answered writes."""
    lab = SymmetricLab(seed, members=members)
    for path in ("/a", "/b", "/c"):
        lab.ada.call(Mkdir(path))
    lab.run_ms(100)
    for name in lab.names:
        lab.faults.power_loss(name)
    return lab


def rot(lab: SymmetricLab, name: str, what: str = "journal_tail") -> None:
    lab.faults.do("corrupt", [name], {"what": what})


def all_is_there(lab: SymmetricLab) -> None:
    lab.finish()
    assert lab.letters == "M" * len(lab.names) and lab.broken() == {}
    for path in ("/a", "/b", "/c"):
        lab.eve.call(Stat(path))


@pytest.mark.parametrize("seed", range(3))
def test_a_server_in_doubt_waits_for_one_that_is_not(seed: int) -> None:
    lab = stopped(seed)
    for name in ("mds1", "mds2"):
        rot(lab, name)
        lab.faults.restart(name)
    lab.run_ms(10_000)
    assert "M" not in lab.letters
    lab.faults.restart("mds3")
    lab.await_view_of("mds3")
    all_is_there(lab)


def test_the_doubt_outlives_a_restart_and_ends_with_the_next_view() -> None:
    lab = stopped(3)
    rot(lab, "mds1")
    lab.faults.restart("mds1")
    lab.run_ms(5_000)
    lab.faults.crash("mds1")
    lab.faults.restart("mds1")
    lab.run_ms(5_000)
    assert lab.letters == "---" or "M" not in lab.letters
    for name in ("mds2", "mds3"):
        lab.faults.restart(name)
    lab.await_view_of(*lab.names)
    lab.run_ms(500)
    for name in lab.names:
        lab.faults.crash(name)
    lab.faults.restart("mds1")
    lab.await_view_of("mds1")
    all_is_there(lab)


def test_an_identity_that_rots_stops_no_server() -> None:
    """Its journal is quarantined, and an empty one with another identity takes its place."""
    lab = stopped(5)
    rot(lab, "mds1")
    lab.faults.restart("mds1")
    lab.run_ms(1_000)
    lab.faults.crash("mds1")
    lab.cluster.servers["mds1"].store.files["disk"].data[8] ^= 4
    lab.faults.restart("mds1")
    lab.run_ms(1_000)
    warned = [each.event.what for each in lab.cluster.events if type(each.event) is Warned]
    assert any("disk" in what and "begins anew" in what for what in warned)
    for name in ("mds2", "mds3"):
        lab.faults.restart(name)
    lab.await_view_of("mds2", "mds3")
    lab.cluster.run_until(lambda: lab.letters == "MMM")
    all_is_there(lab)


def test_all_in_doubt_go_on_together() -> None:
    """The last group is lost on every disk, which looks like a group that never existed; the earlier groups are there."""
    lab = SymmetricLab(4)
    lab.ada.call(Mkdir("/a"))
    lab.run_ms(100)
    for name in lab.names:
        lab.faults.power_loss(name)
        rot(lab, name)
    for name in lab.names[1:]:
        lab.faults.restart(name)
    lab.run_ms(10_000)
    assert "M" not in lab.letters
    lab.faults.restart("mds1")
    lab.await_view_of(*lab.names)


@pytest.mark.parametrize("seed", range(3))
def test_a_journal_that_is_damaged_in_the_middle_is_left_for_an_empty_one(seed: int) -> None:
    lab = stopped(seed)
    rot(lab, "mds2", "journal")
    lab.faults.restart("mds2")
    lab.run_ms(10_000)
    assert "M" not in lab.letters
    assert [s for s in lab.cluster.events if s.server == "mds2" and type(s.event) is Warned]
    for name in ("mds1", "mds3"):
        lab.faults.restart(name)
    lab.await_view_of(*lab.names)
    for name in lab.names:
        lab.faults.crash(name)
    lab.faults.restart("mds2")
    lab.await_view_of("mds2")
    opened = [s.event for s in lab.cluster.events if s.server == "mds2" and type(s.event) is JournalOpened]
    assert opened[-2].last_sn == 0 < opened[-1].last_sn
    all_is_there(lab)


def test_five_members_with_a_replaced_disk_need_a_majority_of_the_others() -> None:
    lab = stopped(5, members=5)
    for name in ("mds1", "mds2"):
        lab.faults.new_disk(name)
    for name in ("mds1", "mds2", "mds3", "mds4"):
        lab.faults.restart(name)
    lab.run_ms(10_000)
    assert "M" not in lab.letters
    lab.faults.restart("mds5")
    lab.await_view_of("mds5")
    all_is_there(lab)
