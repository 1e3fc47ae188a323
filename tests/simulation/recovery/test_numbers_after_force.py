"""A forced group may have lost its newest groups. What it gave out in them, others still have: it gives none of it out again (safety rule 4)."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Create, Mkdir, Rename, Stat
from nodes.units import home_group
from tests.simulation.data.lab import DataLab
from tests.simulation.dcfs2.lab import Groups


def forced_without_the_newest(lab: Groups, group: int, lost: Any) -> None:
    """One of three servers misses what `lost` writes; it is forced while the others are down. Then they return."""
    active = lab.active(group)
    behind, other = [name for name in lab.servers(group) if name != active]
    faults = lab.cluster.faults
    for name in (active, other):
        faults.do("cut", [name, behind])
    lost()
    lab.cluster.run_for(SECOND // 20)
    for name in (active, other):
        faults.crash(name)
    lab.cluster.run_for(20 * SECOND)
    faults.heal_all()
    faults.force(f"g{group}", behind)
    lab.cluster.run_for(15 * SECOND)
    for name in (active, other):
        faults.restart(name)
    lab.cluster.run_for(30 * SECOND)


def result_of(lab: Groups, operation: Any) -> Any:
    task = lab.eve.spawn(operation)
    lab.cluster.run_until(task.done, 30 * SECOND)
    return task.result().result


@pytest.mark.parametrize("group", [1, 2])
def test_a_lost_move_of_a_directory_stops_no_group(group: int) -> None:
    """The groups count different numbers of moves: without an agreement every operation across them would begin anew for ever."""
    lab = Groups(1, 2, 2, placement="random")
    for number in range(6):
        lab.ada.call(Mkdir(f"/d{number}"))
        lab.ada.call(Create(f"/d{number}/f"))
    forced_without_the_newest(lab, group, lambda: lab.ada.call(Rename("/d0", "/e0")))
    for number in range(1, 6):
        result_of(lab, Create(f"/d{number}/new"))
        result_of(lab, Stat(f"/d{number}/f"))
    result_of(lab, Rename("/d1", "/e1"))
    result_of(lab, Rename("/d2/f", "/d3/g"))


@pytest.mark.parametrize("seed", [1, 2])
def test_a_move_learns_the_larger_count_of_a_forced_group(seed: int) -> None:
    """The group that coordinates it counts fewer moves, and no client has learned of more."""
    lab = Groups(seed, 2, 2, placement="random")
    for number in range(6):
        lab.ada.call(Mkdir(f"/d{number}"))
        lab.ada.call(Create(f"/d{number}/f"))
    forced_without_the_newest(lab, 2, lambda: lab.ada.call(Create("/d0/lost")))
    result_of(lab, Rename("/d1", "/e1"))
    lab.cluster.run_until(lambda: not any(page.open for page in lab.pages()), 30 * SECOND)


def test_a_lost_operation_of_the_coordinator_gives_its_number_to_no_other() -> None:
    """The other group has finished the lost operations, and would take the new ones for late copies of them."""
    lab = Groups(1, 2, 2, placement="random")
    lab.ada.call(Mkdir("/d"))
    home = home_group(lab.ada.call(Stat("/d")).result.inode)

    def crossing() -> None:
        found = number = 0
        while found < 3:
            found += home_group(lab.ada.call(Create(f"/d/lost{number}")).result.inode) != home
            number += 1

    forced_without_the_newest(lab, home, crossing)
    for number in range(8):
        result_of(lab, Create(f"/d/new{number}"))
        result_of(lab, Stat(f"/d/new{number}"))
    assert [page.open for page in lab.pages()] == [0, 0]


@pytest.mark.parametrize("seed", [1, 2])
def test_a_lost_block_gives_its_number_to_no_other(seed: int) -> None:
    """A data node that was away returns with the lost file's block. Under the number of a new one it would be taken for a replica of that."""
    lab = DataLab(seed, 3, standbys=2)
    old, new = b"A" * 100_000, b"B" * 100_000
    lab.put("/before", b"w" * 1_000)
    lab.run_ms(2_000)
    active, (other, behind) = lab.active, lab.standbys
    for name in (active, other):
        lab.faults.do("cut", [name, behind])
    lab.put("/lost", old)
    for name in ("dn3", active, other):
        lab.faults.crash(name)
    lab.run_ms(20_000)
    lab.faults.force("g1", behind)
    lab.run_ms(20_000)
    lab.put("/new", new)
    lab.faults.restart("dn3")
    lab.run_ms(4_000)
    for _ in range(6):
        got = lab.begin_get("/new")
        lab.cluster.run_until(got.done, 30 * SECOND)
        assert got.result() == new
