"""The journal against a list, against power loss, and against damage at every place of its tail and its middle."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.config import Knobs
from nodes.format_number import stored
from nodes.storage import journal_file
from nodes.storage.journal_file import CorruptJournal, Journal
from nodes.storage.records import HEADER
from tests.unit.storage.memory_disk import MachineDied, MemoryDisk, MemoryFile


def written(count: int, size: int = 5) -> tuple[MemoryDisk, str]:
    disk = MemoryDisk()
    journal = Journal.open(disk, "journal")
    for sn in range(1, count + 1):
        journal.append(sn, 1, bytes([sn]) * size)
    asyncio.run(journal.sync())
    return disk, "journal/00000000000000000001.seg"


def content(disk: MemoryDisk) -> list[tuple[int, bytes]]:
    journal = Journal.open(disk, "journal")
    return list(journal.entries(journal.first_sn, journal.last_sn))


def test_a_journal_cut_at_every_octet_of_its_last_record_keeps_the_others() -> None:
    disk, path = written(4)
    whole = bytes(disk.files[path])
    start = len(whole) - (len(whole) - HEADER.size) // 4
    for size in range(start, len(whole)):
        disk.files[path] = bytearray(whole[:size])
        journal = Journal.open(disk, "journal")
        assert journal.last_sn == 3 and journal.cut_bytes == size - start
        journal.append(4, 2, b"again")
        asyncio.run(journal.sync())
        assert content(disk)[3:] == [(4, b"again")]


def test_a_flipped_octet_in_the_middle_is_refused_and_nothing_is_altered() -> None:
    disk, path = written(5)
    whole = bytes(disk.files[path])
    record = (len(whole) - HEADER.size) // 5
    for offset in range(HEADER.size + record, HEADER.size + 3 * record):
        damaged = bytearray(whole)
        damaged[offset] ^= 0x21
        disk.files[path] = damaged
        with pytest.raises(CorruptJournal) as caught:
            Journal.open(disk, "journal")
        assert path in str(caught.value) and "\n" not in str(caught.value)
        assert caught.value.sn in (2, 3)
        assert disk.files[path] == damaged


def test_an_unknown_format_names_both_numbers() -> None:
    disk, path = written(1)
    disk.files[path][8:10] = stored(9).to_bytes(2, "little")
    with pytest.raises(CorruptJournal, match=r"format 9.*format 1"):
        Journal.open(disk, "journal")


def test_strange_files_are_refused() -> None:
    for data, where in ((b"x" * 40, "begins with"), (b"", "cut off")):
        disk, path = written(2)
        disk.files[path] = bytearray(data)
        disk.files["journal/00000000000000000003.seg"] = bytearray(b"")
        with pytest.raises(CorruptJournal, match=where):
            Journal.open(disk, "journal")
    disk, path = written(2)
    disk.files["journal/².seg"] = bytearray()
    with pytest.raises(CorruptJournal, match="named by the 20 digits"):
        Journal.open(disk, "journal")


def test_a_missing_segment_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_file, "SEGMENT_BYTES", 60)
    disk, _path = written(9)
    assert len(disk.files) > 2
    middle = sorted(disk.files)[1]
    del disk.files[middle]
    with pytest.raises(CorruptJournal, match="should come next"):
        Journal.open(disk, "journal")


def test_another_sn_and_absurd_sizes_are_refused() -> None:
    journal = Journal.open(MemoryDisk(), "journal")
    with pytest.raises(ValueError, match="sn 2 appended after 0"):
        journal.append(2, 1, b"")
    with pytest.raises(ValueError, match="the most"):
        journal.append(1, 1, bytes((16 << 20) + 1))


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(0, 40)),
        st.tuples(st.just("sync"), st.just(0)),
        st.tuples(st.just("cut"), st.integers(0, 30)),
        st.tuples(st.just("reset"), st.integers(1, 5)),
        st.tuples(st.just("reopen"), st.just(0)),
        st.tuples(st.just("power"), st.integers(0, 12)),
    ),
    max_size=40,
)


@settings(max_examples=300, deadline=None)
@given(STEPS)
def test_like_a_list_that_forgets_what_was_not_synced(steps: list[Any]) -> None:
    journal_file.SEGMENT_BYTES, before = 100, journal_file.SEGMENT_BYTES
    try:
        asyncio.run(follow(steps))
    finally:
        journal_file.SEGMENT_BYTES = before


async def follow(steps: list[Any]) -> None:
    disk = MemoryDisk()
    journal = Journal.open(disk, "journal")
    first, model, durable = 1, [], (1, [])
    for verb, number in steps:
        if verb == "append":
            model.append(bytes([len(model) % 250]) * number)
            journal.append(first + len(model) - 1, 1, model[-1])
        elif verb == "sync":
            await journal.sync()
            durable = (first, list(model))
        elif verb == "cut":
            keep = min(number, len(model))
            del model[keep:]
            await journal.truncate_after(first + keep - 1)
            durable = (first, list(model))
        elif verb == "reset":
            first, model = first + len(model) + number, []
            await journal.reset(first)
            durable = (first, [])
        else:
            if verb == "power":
                disk.lose_power(torn=number)
            first, model = durable[0], list(durable[1])
            journal = Journal.open(disk, "journal")
        got = list(journal.entries(0, 10_000))
        assert got == [(first + place, data) for place, data in enumerate(model)]
        assert journal.last_sn == first + len(model) - 1


def damaged(disk: MemoryDisk, path: str, first: int, count: int, mask: int) -> None:
    """Flips a bit of each of `count` records from `first` on."""
    size = (len(disk.files[path]) - HEADER.size) // 15
    for place in range(first, first + count):
        disk.files[path][HEADER.size + place * size + size - 1] ^= mask


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
@pytest.mark.parametrize("count", [1, 2, 4, 9])
def test_a_run_of_damaged_records_is_refused_while_any_valid_one_follows(count: int, mask: int) -> None:
    disk, path = written(15)
    damaged(disk, path, 3, count, mask)
    before = bytes(disk.files[path])
    with pytest.raises(CorruptJournal) as caught:
        Journal.open(disk, "journal")
    assert caught.value.sn == 4 and bytes(disk.files[path]) == before


def test_a_long_tail_of_zeros_is_a_torn_tail_found_at_once() -> None:
    disk, path = written(4)
    disk.files[path] += bytes(4 << 20)
    journal = Journal.open(disk, "journal")
    assert journal.last_sn == 4 and journal.cut_bytes == 4 << 20


@pytest.mark.parametrize("kept", [0, 5])
def test_a_new_segment_whose_header_never_reached_the_disk_is_a_torn_tail(kept: int) -> None:
    """A power loss leaves zeros of the file's length, or its last bytes behind them. Earlier segments are whole, and nothing is in doubt."""
    disk, path = written(4)
    rest = bytes(disk.files[path])[-kept:] if kept else b""
    disk.files["journal/00000000000000000005.seg"] = bytearray(bytes(60) + rest)
    journal = Journal.open(disk, "journal")
    assert journal.last_sn == 4 and journal.cut_bytes == 60 + kept and journal.doubtful is None
    journal.append(5, 2, b"again")
    asyncio.run(journal.sync())
    assert content(disk)[4:] == [(5, b"again")]
    disk.files["journal/00000000000000000006.seg"] = bytearray(b"\0")
    disk.files["journal/00000000000000000005.seg"][: HEADER.size] = bytes(HEADER.size)
    with pytest.raises(CorruptJournal, match="never written, and another segment follows"):
        Journal.open(disk, "journal")


def test_after_a_failed_sync_everything_is_refused_until_it_is_opened_again() -> None:
    disk, _path = written(3)
    journal = Journal.open(disk, "journal")
    journal.append(4, 1, b"x")
    disk.fails = True
    with pytest.raises(OSError):
        asyncio.run(journal.sync())
    disk.fails = False
    with pytest.raises(OSError, match="failed before"):
        asyncio.run(journal.sync())
    with pytest.raises(OSError, match="failed before"):
        journal.append(5, 1, b"y")
    disk.lose_power()
    assert [sn for sn, _ in content(disk)] == [1, 2, 3]


@pytest.mark.parametrize("act", ["truncate", "reset"])
@pytest.mark.parametrize("removals", range(4))
def test_a_crash_between_two_removals_leaves_a_journal(
    monkeypatch: pytest.MonkeyPatch, act: str, removals: int
) -> None:
    monkeypatch.setattr(journal_file, "SEGMENT_BYTES", 60)
    disk, _path = written(12)
    assert len(disk.files) >= 4
    journal = Journal.open(disk, "journal")
    disk.removals_left = removals
    try:
        asyncio.run(journal.truncate_after(1) if act == "truncate" else journal.reset(50))
    except MachineDied:
        pass
    disk.removals_left = -1
    found = Journal.open(disk, "journal")
    assert found.first_sn in (1, 50) and found.last_sn in range(1, 50)


def test_a_reset_is_durable_by_itself() -> None:
    disk, _path = written(3)
    journal = Journal.open(disk, "journal")
    asyncio.run(journal.reset(51))
    disk.lose_power()
    again = Journal.open(disk, "journal")
    assert (again.first_sn, again.last_sn) == (51, 50)


def test_old_segments_are_dropped_but_not_under_unsynced_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_file, "SEGMENT_BYTES", 60)
    journal = Journal.open(MemoryDisk(), "journal")
    for sn in range(1, 10):
        journal.append(sn, 1, b"12345")
    journal.drop_before(8)
    assert journal.first_sn == 1
    asyncio.run(journal.sync())
    journal.drop_before(8)
    assert 1 < journal.first_sn <= 8
    assert [sn for sn, _ in journal.entries(1, 9)] == list(range(journal.first_sn, 10))


class SlowDisk(MemoryDisk):
    """A disk on which other procedures go on while a file is synced."""

    def open_append(self, path: str) -> MemoryFile:
        return SlowFile(self, path)


class SlowFile(MemoryFile):
    async def sync(self) -> None:
        await asyncio.sleep(0)
        if self._path in self._disk.files:
            await super().sync()


def test_old_segments_are_not_dropped_while_they_are_being_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that was written behind its removal stayed, and a later removal left a gap behind it."""
    monkeypatch.setattr(journal_file, "SEGMENT_BYTES", 60)

    async def dropped_during_a_sync() -> MemoryDisk:
        disk = SlowDisk()
        journal = Journal.open(disk, "journal")
        for sn in range(1, 20):
            journal.append(sn, 1, b"12345")
        syncing = asyncio.create_task(journal.sync())
        await asyncio.sleep(0)
        journal.drop_before(11)
        await syncing
        journal.drop_before(15)
        return disk

    disk = asyncio.run(dropped_during_a_sync())
    again = Journal.open(disk, "journal")
    assert 11 < again.first_sn <= 15
    assert [sn for sn, _ in content(disk)] == list(range(again.first_sn, 20))


def test_whatever_rots_is_noticed_when_it_is_read_again() -> None:
    disk, path = written(5)
    journal = Journal.open(disk, "journal")
    whole = bytes(disk.files[path])
    record = (len(whole) - HEADER.size) // 5
    for offset in range(HEADER.size, len(whole)):
        disk.files[path] = bytearray(whole)
        disk.files[path][offset] ^= 0x21
        with pytest.raises(CorruptJournal) as caught:
            list(journal.entries(1, 5))
        assert caught.value.sn == 1 + (offset - HEADER.size) // record
        rest = range(caught.value.sn + 1, 6)
        assert [sn for sn, _ in journal.entries(caught.value.sn + 1, 5)] == list(rest)
    disk.files[path] = bytearray(whole[:-1])
    with pytest.raises(CorruptJournal):
        list(journal.entries(5, 5))


def test_a_record_leaves_memory_when_it_is_in_its_file() -> None:
    """Records wait until the records read at the opening are written again; meanwhile others arrive, and a reader reads them all."""
    disk, _ = written(1)
    over = asyncio.Event()

    class Slow(MemoryDisk):
        async def replace(self, path: str, data: bytes) -> None:
            await over.wait()
            await super().replace(path, data)

    slow = Slow()
    slow.files = disk.files
    journal = Journal.open(slow, "journal", knobs=Knobs(recent_records=1))

    async def go() -> list[bytes]:
        journal.append(2, 1, b"second")
        journal.append(3, 1, b"third")
        sync = asyncio.create_task(journal.sync())
        await asyncio.sleep(0)
        journal.append(4, 1, b"fourth")
        found = [data for _, data in journal.entries(2, 4)]
        over.set()
        await sync
        await journal.sync()
        journal.append(5, 1, b"fifth")
        assert len(journal._recent) == 1
        return found

    assert asyncio.run(go()) == [b"second", b"third", b"fourth"]
