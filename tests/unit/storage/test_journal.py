"""The journal against a list, against power loss, and against every damage of its end and of its middle."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.storage import journal_file
from nodes.storage.journal_file import Journal, JournalCorrupt
from nodes.storage.records import HEADER
from tests.unit.storage.memory_disk import MemoryDisk


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
        assert journal.last_sn == 3 and journal.cut_octets == size - start
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
        with pytest.raises(JournalCorrupt) as caught:
            Journal.open(disk, "journal")
        assert path in str(caught.value) and "\n" not in str(caught.value)
        assert caught.value.sn in (2, 3)
        assert disk.files[path] == damaged


def test_an_unknown_format_names_both_numbers() -> None:
    disk, path = written(1)
    disk.files[path][8] = 9
    with pytest.raises(JournalCorrupt, match=r"format 9.*format 1"):
        Journal.open(disk, "journal")


def test_strange_files_are_refused() -> None:
    for octets, where in ((b"x" * 40, "begins with"), (b"", "cut off")):
        disk, path = written(2)
        disk.files[path] = bytearray(octets)
        disk.files["journal/00000000000000000003.seg"] = bytearray(b"")
        with pytest.raises(JournalCorrupt, match=where):
            Journal.open(disk, "journal")
    disk, path = written(2)
    disk.files["journal/abc.seg"] = bytearray()
    with pytest.raises(JournalCorrupt, match="named by"):
        Journal.open(disk, "journal")


def test_a_missing_segment_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_file, "SEGMENT_OCTETS", 60)
    disk, _path = written(9)
    assert len(disk.files) > 2
    middle = sorted(disk.files)[1]
    del disk.files[middle]
    with pytest.raises(JournalCorrupt, match="should come next"):
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
        st.tuples(st.just("power"), st.just(0)),
    ),
    max_size=40,
)


@settings(max_examples=300, deadline=None)
@given(STEPS)
def test_like_a_list_that_forgets_what_was_not_synced(steps: list[Any]) -> None:
    journal_file.SEGMENT_OCTETS, before = 100, journal_file.SEGMENT_OCTETS
    try:
        asyncio.run(follow(steps))
    finally:
        journal_file.SEGMENT_OCTETS = before


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
                disk.lose_power()
            first, model = durable[0], list(durable[1])
            journal = Journal.open(disk, "journal")
            if not model:
                journal.restart_at(first)
        got = list(journal.entries(0, 10_000))
        assert got == [(first + place, octets) for place, octets in enumerate(model)]
        assert journal.last_sn == first + len(model) - 1
