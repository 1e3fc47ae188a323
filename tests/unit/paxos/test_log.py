"""The slot log: pruning, the state after a restart, and the images from which no slot is missing."""

from __future__ import annotations

import asyncio
import random
from types import SimpleNamespace
from typing import cast

from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.config import Knobs
from nodes.mutations import NO_MUTATIONS
from nodes.protocols.paxos.log import NOTHING, SlotLog, encode_record
from nodes.protocols.paxos.messages import LogRecord
from nodes.storage.journal_file import Journal
from nodes.wire.messages import Mark
from nodes.world import World
from tests.unit.storage.memory_disk import MemoryDisk

VIEW = ["mds1", "mds2"]
SMALL = Knobs(segment_bytes=300)


def opened(disk: MemoryDisk) -> SlotLog:
    world = cast(World, SimpleNamespace(trace=SimpleNamespace(emit=lambda event: 0)))
    log = SlotLog(world, Journal.open(disk, "journal", NO_MUTATIONS, SMALL))
    log.load()
    return log


def chain(slots: int, ballot: int = 1, previous: Mark = NOTHING) -> list[tuple[LogRecord, bytes, Mark]]:
    made = []
    for _ in range(slots):
        record = LogRecord(previous.sn + 1, 1, ballot, 0, previous, 0, previous.sn, [])
        data, previous = encode_record(record)
        made.append((record, data, previous))
    return made


def filled(disk: MemoryDisk, records: list[tuple[LogRecord, bytes, Mark]], success: int) -> SlotLog:
    log = opened(disk)
    log.open_behind(NOTHING)
    for record, data, _ in records:
        log.put(record.epoch, record, data)
        if record.sn == success:
            log.mark_success(success, VIEW)
    asyncio.run(log.sync())
    return log


def test_it_begins_behind_an_image_and_reports_what_leads_on_from_it() -> None:
    disk, records = MemoryDisk(), chain(30)
    log = filled(disk, records, 25)
    assert log.prune(12) and 0 < log.base.sn <= 12
    again = opened(disk)
    assert all(again.leads_from(records[image_sn - 1][2]) for image_sn in (12, 20, 25, 30))
    again.open_behind(records[19][2])
    assert again.base == log.base and again.last == records[-1][2]
    assert [record.sn for _, record in again.accepted()] == list(range(log.base.sn + 1, 31))
    assert again.pointer.slot == 25 and again.pointer.at.view == VIEW


def test_an_image_from_which_something_lacks_is_refused() -> None:
    disk, records = MemoryDisk(), chain(30)
    log = filled(disk, records, 25)
    assert log.prune(20) and log.base.sn > 5
    again = opened(disk)
    assert again.pruned and not again.leads_from(NOTHING) and not again.leads_from(records[4][2])
    assert again.leads_from(records[19][2])


def test_what_lies_below_an_image_and_does_not_lead_to_it_is_forgotten() -> None:
    """It was accepted under a ballot without a decision; the image came from the others."""
    disk, wrong, right = MemoryDisk(), chain(8), chain(12, ballot=2)
    filled(disk, wrong, 0)
    log = opened(disk)
    log.open_behind(NOTHING)
    log.begin_behind(right[5][2])
    assert log.base == log.last == right[5][2]
    assert log.stored(5) is None and log.stored(8) is not None
    log.mark_success(6, [])
    asyncio.run(log.sync())
    again = opened(disk)
    assert not again.leads_from(NOTHING) and not again.leads_from(wrong[5][2])
    again.open_behind(right[5][2])
    assert again.base == right[5][2] and again.pointer.at.view == []


def test_accepted_slots_above_an_image_that_is_read_stay() -> None:
    disk, records = MemoryDisk(), chain(12)
    filled(disk, [*records[:3], *records[6:]], 3)
    log = opened(disk)
    log.open_behind(NOTHING)
    assert log.last == records[2][2]
    log.begin_behind(records[8][2])
    assert [record.sn for _, record in log.accepted()] == [10, 11, 12]
    asyncio.run(log.sync())
    assert log.last == records[-1][2]


def test_nothing_goes_before_a_pointer_to_it_is_durable() -> None:
    disk, records = MemoryDisk(), chain(30)
    log = opened(disk)
    log.open_behind(NOTHING)
    for record, data, _ in records:
        log.put(1, record, data)
    asyncio.run(log.sync())
    assert not log.prune(20)
    log.dirty = True
    log.mark_success(25, VIEW)
    assert not log.prune(20)
    asyncio.run(log.sync())
    assert log.prune(20)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 32))
def test_what_is_left_after_any_pruning_is_complete(seed: int) -> None:
    """Slots are accepted again under later ballots, pointers are written, segments are removed: no slot after the pointer is ever missing."""
    rng, disk, records = random.Random(seed), MemoryDisk(), chain(60)
    log = opened(disk)
    log.open_behind(NOTHING)
    success = pruned = 0
    for ballot in range(1, 6):
        last = rng.randint(success, 60)
        for record, data, _ in records[success:last]:
            log.put(ballot, record, data)
        success = rng.randint(success, last)
        log.mark_success(success, VIEW)
        asyncio.run(log.sync())
        pruned = rng.randint(pruned, success)
        log.prune(pruned)
    again = opened(disk)
    image = records[pruned - 1][2] if pruned else NOTHING
    assert again.leads_from(image)
    again.open_behind(image)
    found = {record.sn for _, record in again.accepted()}
    assert found >= {record.sn for record, _, _ in records[pruned : log.end]}
    assert again.pointer.slot >= pruned
