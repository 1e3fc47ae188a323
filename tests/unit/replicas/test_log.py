"""Journal reads of a replica for a peer that lacks a part of the journal."""

from __future__ import annotations

import asyncio

from nodes.metadata.records import IncarnationRecord
from nodes.protocols.mams.pool_node import FETCHED_BYTES
from nodes.replicas.log import NOTHING, ReplicaLog, encode_group
from nodes.storage.journal_file import RUN_BYTES, Journal
from nodes.storage.records import OVERHEAD
from nodes.wire.messages import JournalGroup
from tests.unit.storage.memory_disk import MemoryDisk

GAP = 5_000
RECORDS = 60
"""Records in a group, so that the gap takes several answers."""


class CountingDisk(MemoryDisk):
    """A disk that counts its reads."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = self.bytes_read = 0

    def read(self, path: str, offset: int = 0, length: int | None = None) -> bytes:
        data = bytes(memoryview(self.files[path])[offset : None if length is None else offset + length])
        self.reads += 1
        self.bytes_read += len(data)
        return data


def written(groups: int, records: int = RECORDS) -> tuple[CountingDisk, ReplicaLog]:
    """A log that was just opened: none of it is in memory."""
    disk = CountingDisk()
    journal, previous = Journal.open(disk, "journal"), NOTHING
    for sn in range(1, groups + 1):
        contents = [IncarnationRecord(each, each) for each in range(records)]
        data, mark = encode_group(JournalGroup(sn, sn, 1, 0, previous, sn - 1, sn, contents))
        journal.append(sn, 1, data)
        previous = mark
    asyncio.run(journal.sync())
    log = ReplicaLog(Journal.open(disk, "journal"), NOTHING, False)
    assert sum(1 for _ in log.load()) == groups
    disk.reads = disk.bytes_read = 0
    return disk, log


def test_a_gap_of_many_answers_is_read_once() -> None:
    """One request reads the part that it sends; all of them together read the gap once, not its square."""
    disk, log = written(GAP)
    total, sn, answers = 0, 1, 0
    while sn <= GAP:
        before, reads = disk.bytes_read, disk.reads
        groups = log.encoded(sn, GAP, FETCHED_BYTES)
        sent = sum(map(len, groups))
        assert groups and sent <= FETCHED_BYTES
        assert disk.bytes_read - before <= sent + OVERHEAD * len(groups)
        assert disk.reads - reads <= 2 + FETCHED_BYTES // RUN_BYTES
        total, sn, answers = total + sent, sn + len(groups), answers + 1
    assert answers > 5
    assert disk.bytes_read <= total + OVERHEAD * GAP


def test_twice_the_gap_costs_twice_as_much() -> None:
    def cost(gap: int) -> int:
        disk, log = written(gap)
        sn = 1
        while sn <= gap:
            sn += len(log.encoded(sn, gap, FETCHED_BYTES))
        return disk.bytes_read

    assert cost(2_000) <= 2.1 * cost(1_000)


def test_one_group_larger_than_the_limit_is_sent_alone() -> None:
    _, log = written(3)
    assert len(log.encoded(1, 3, 10)) == 1
    assert len(log.encoded(1, 3)) == 3
    assert log.encoded(4, 9, 10) == [] and log.encoded(0, 3, 10) == []


def test_what_is_in_memory_and_what_is_on_disk_are_joined() -> None:
    disk = CountingDisk()
    journal = Journal.open(disk, "journal")
    for sn in range(1, 1_001):
        journal.append(sn, 1, b"%d" % sn)
        if not sn % 100:
            asyncio.run(journal.sync())
    assert [payload for _, payload in journal.entries(1, 1_000)] == [b"%d" % sn for sn in range(1, 1_001)]
    assert disk.reads == 1
