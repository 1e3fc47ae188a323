"""A journal's report on a damaged tail; the groups that it read back become durable before anything else."""

from __future__ import annotations

import asyncio

import pytest

from nodes.mutations import Mutations
from nodes.storage.journal_file import DOUBT_FILE, Doubt, Journal
from nodes.storage.records import HEADER, OVERHEAD
from tests.unit.storage.memory_disk import MemoryDisk
from tests.unit.storage.test_journal import written

PATH = "journal/00000000000000000001.seg"
MARK = f"journal/{DOUBT_FILE}"


def test_a_tail_that_power_loss_tore_is_not_doubtful() -> None:
    disk, path = written(4, 40)
    whole = bytes(disk.files[path])
    start = len(whole) - (OVERHEAD + 40)
    for size in range(start + 1, len(whole)):
        disk.files[path] = bytearray(whole[:size])
        journal = Journal.open(disk, "journal")
        assert journal.cut_bytes and journal.doubtful is None, size


def test_a_tail_of_nothing_but_zeros_was_never_synced() -> None:
    """The power failed when the file had its new length, but none of the record's bytes."""
    disk, path = written(4, 40)
    whole = bytes(disk.files[path])
    for length in (1, OVERHEAD - 1, OVERHEAD, OVERHEAD + 40, 512):
        disk.files[path] = bytearray(whole + bytes(length))
        journal = Journal.open(disk, "journal")
        assert (journal.last_sn, journal.cut_bytes) == (4, length) and journal.doubtful is None, length


def test_any_bit_that_rots_in_the_last_record_makes_the_journal_doubtful() -> None:
    disk, path = written(4, 40)
    whole = bytes(disk.files[path])
    for offset in range(len(whole) - (OVERHEAD + 40), len(whole)):
        for bit in range(8):
            damaged = bytearray(whole)
            damaged[offset] ^= 1 << bit
            disk.files[path] = damaged
            journal = Journal.open(disk, "journal")
            assert journal.doubtful == Doubt(1, 3), (offset, bit)


def test_rot_of_the_only_record_is_doubtful_from_nothing() -> None:
    disk, path = written(1)
    disk.files[path][-1] ^= 1
    assert Journal.open(disk, "journal").doubtful == Doubt(0, 0)


def test_rot_behind_a_rolled_segment_names_its_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nodes.storage.journal_file.SEGMENT_BYTES", 40)
    disk, _ = written(3)
    last = max(disk.files)
    disk.files[last][-1] ^= 1
    assert Journal.open(disk, "journal").doubtful == Doubt(1, 2)


def rotten() -> MemoryDisk:
    disk, path = written(4)
    disk.files[path][-3] ^= 1
    return disk


def test_the_doubt_outlives_the_tail_until_the_owner_is_renewed() -> None:
    disk = rotten()
    journal = Journal.open(disk, "journal")
    journal.append(4, 2, b"another")
    asyncio.run(journal.sync())
    disk.lose_power()
    again = Journal.open(disk, "journal")
    assert again.cut_bytes == 0 and again.last_sn == 4 and again.doubtful == Doubt(1, 3)
    asyncio.run(again.renewed())
    assert again.doubtful is None
    assert Journal.open(disk, "journal").doubtful is None


def test_the_mark_is_durable_before_the_tail_is_gone() -> None:
    disk = rotten()
    before = bytes(disk.files[PATH])
    disk.fails_at = PATH
    with pytest.raises(OSError):
        asyncio.run(Journal.open(disk, "journal").sync())
    assert MARK in disk.durable and bytes(disk.files[PATH]) == before


def test_the_mutation_forgets_the_cut() -> None:
    assert Journal.open(rotten(), "journal", Mutations(cut_is_forgotten=True)).doubtful is None


def unsynced() -> MemoryDisk:
    """A disk of a process that was killed after it had appended record 3, before any sync."""
    disk, path = written(2)
    first = bytes(disk.files[path])
    more, _ = written(3)
    disk.files[path] = more.files[path]
    assert disk.durable[path] == first
    return disk


def test_what_was_read_back_is_durable_after_the_first_sync() -> None:
    disk = unsynced()
    journal = Journal.open(disk, "journal")
    assert journal.last_sn == 3
    asyncio.run(journal.sync())
    disk.lose_power()
    assert Journal.open(disk, "journal").last_sn == 3


def test_what_was_read_back_is_durable_when_a_segment_rolls_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    disk = unsynced()
    monkeypatch.setattr("nodes.storage.journal_file.SEGMENT_BYTES", HEADER.size + 1)
    journal = Journal.open(disk, "journal")
    journal.append(4, 1, b"in the next segment")
    asyncio.run(journal.sync())
    disk.lose_power()
    assert Journal.open(disk, "journal").last_sn == 4


def test_the_mutation_trusts_the_page_cache() -> None:
    disk = unsynced()
    asyncio.run(Journal.open(disk, "journal", Mutations(sync_failed_then_trusted=True)).sync())
    disk.lose_power()
    assert Journal.open(disk, "journal").last_sn == 2
