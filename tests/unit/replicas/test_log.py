"""Journal reads of a replica for a peer that lacks a part of the journal, and how far two journals are known to be equal."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from nodes.metadata.records import IncarnationRecord
from nodes.protocols.mams.pool_node import FETCHED_BYTES
from nodes.replicas.log import NOTHING, ReplicaLog, encode_group
from nodes.storage.journal_file import RUN_BYTES, Journal
from nodes.storage.records import OVERHEAD
from nodes.wire.messages import JournalGroup, Mark
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


# --- agreement -------------------------------------------------------------------------------------------------------


class Histories:
    """One order of groups for each epoch, which begins behind a part of an earlier one."""

    def __init__(self, begins: list[tuple[int, int, int]]):
        self.all: list[list[tuple[bytes, Mark]]] = [[]]
        for epoch, (parent, kept, added) in enumerate(begins, 1):
            groups = list(self.all[parent % epoch])
            del groups[min(kept, len(groups)) :]
            for _ in range(added):
                previous = groups[-1][1] if groups else NOTHING
                content = [IncarnationRecord(epoch, previous.sn)]
                groups.append(
                    encode_group(JournalGroup(previous.sn + 1, 1, epoch, 0, previous, 0, 1, content))
                )
            self.all.append(groups)

    def log(self, epoch: int, length: int, base: int) -> tuple[list[Mark], ReplicaLog]:
        """The history of an epoch up to a length, in a journal that begins behind `base` groups."""
        groups = self.all[epoch % len(self.all)][:length]
        base = min(base, len(groups))
        journal = Journal.open(MemoryDisk(), "journal")
        journal.restart_at(base + 1)
        for data, mark in groups[base:]:
            journal.append(mark.sn, mark.epoch, data)
        log = ReplicaLog(journal, groups[base - 1][1] if base else NOTHING, False)
        assert [group.sn for group in log.load()] == [mark.sn for _, mark in groups[base:]]
        return [mark for _, mark in groups], log


SHORT = st.integers(0, 6)
PLACES = st.tuples(SHORT, st.integers(0, 20), SHORT)


@given(st.lists(st.tuples(SHORT, SHORT, st.integers(1, 4)), min_size=1, max_size=5), PLACES, PLACES)
def test_journals_never_agree_beyond_what_is_equal(
    begins: list[tuple[int, int, int]], one: tuple[int, int, int], other: tuple[int, int, int]
) -> None:
    histories = Histories(begins)
    (mine, log), (theirs, peer) = histories.log(*one), histories.log(*other)
    equal = next((n for n, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b), None)
    if equal is None:
        equal = min(len(mine), len(theirs))
    agreed = log.agrees_up_to(peer.tails())
    assert agreed is None or agreed <= equal
    if peer.base.sn <= log.base.sn <= equal:
        assert agreed == equal, "whatever is in both of them is known to be equal"


def test_a_journal_that_begins_from_an_image_agrees_with_one_that_holds_the_image_s_groups() -> None:
    histories = Histories([(0, 0, 7)])
    _, whole = histories.log(1, 7, 0)
    _, behind_image = histories.log(1, 5, 5)
    assert behind_image.agrees_up_to(whole.tails()) == 5
