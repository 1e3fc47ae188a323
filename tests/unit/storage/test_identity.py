"""A disk keeps its identity until it is replaced, or its journal may have lost acknowledged groups."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from nodes.storage.identity import DISK_FILE, DiskIdentity
from nodes.storage.journal_file import Journal
from tests.unit.storage.memory_disk import MemoryDisk


def identity(disk: MemoryDisk, at_ns: int) -> DiskIdentity:
    clock, trace = SimpleNamespace(wall_ns=lambda: at_ns), SimpleNamespace(emit=lambda event: 0)
    world: Any = SimpleNamespace(name="mds1", disk=disk, clock=clock, trace=trace)
    return DiskIdentity(world, Journal.open(disk, "journal"))


def with_groups(disk: MemoryDisk) -> str:
    journal = Journal.open(disk, "journal")
    for sn in (1, 2):
        journal.append(sn, 1, b"group")
    asyncio.run(journal.sync())
    return max(path for path in disk.files if path.endswith(".seg"))


def test_it_is_made_once_and_survives_power_loss() -> None:
    disk = MemoryDisk()
    first = identity(disk, 1)
    assert first.id.instance and first.id.before == () and DISK_FILE not in disk.files
    asyncio.run(first.keep())
    disk.lose_power()
    assert identity(disk, 2).id == first.id


def test_an_empty_disk_is_another_one() -> None:
    assert identity(MemoryDisk(), 1).id != identity(MemoryDisk(), 2).id


def test_a_disk_that_lost_its_tail_is_another_one_and_says_which_it_was() -> None:
    disk = MemoryDisk()
    path = with_groups(disk)
    first = identity(disk, 1)
    asyncio.run(first.keep())
    disk.files[path][-1] ^= 1
    second = identity(disk, 2)
    assert second.id.instance != first.id.instance and second.id.before == (first.id.instance,)
    asyncio.run(second.keep())
    disk.lose_power()
    assert identity(disk, 3).id == second.id


def test_a_crash_between_mark_and_identity_leaves_the_doubt() -> None:
    disk = MemoryDisk()
    path = with_groups(disk)
    first = identity(disk, 1)
    asyncio.run(first.keep())
    disk.files[path][-1] ^= 1
    asyncio.run(Journal.open(disk, "journal").sync())
    again = identity(disk, 3)
    assert again.id.before == (first.id.instance,)


def test_one_that_was_never_named_and_lost_its_tail_says_so() -> None:
    disk = MemoryDisk()
    path = with_groups(disk)
    disk.files[path][-1] ^= 1
    assert identity(disk, 1).id.before == (0,)
