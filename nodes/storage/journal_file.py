"""The journal of one replica on its disk: numbered records in segments of 16 MiB, appended, cut at the end, never altered (DCFS2 §4.3.3).

Each call changes the index at once. `sync` carries the calls out on the disk, in order, and makes them durable.

Records that opening reads are not yet durable. They may lie in the page cache of a process that was killed before its sync, or whose sync
failed, and then the kernel may regard the pages as clean. The first `sync` writes the last segment into a new file; earlier segments were
synced before it was begun.

A damaged tail that may have been synced makes the journal doubtful: its owner may have acknowledged the records that are cut. The mark is
durable before the tail is removed, and stays until `renewed`.
"""

from __future__ import annotations

import asyncio
import re
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from itertools import pairwise

import msgspec

from nodes.config import NO_KNOBS, Knobs
from nodes.mutations import NO_MUTATIONS, Mutations
from nodes.storage.open_segment import Appending
from nodes.storage.records import (
    HEADER,
    OVERHEAD,
    PAYLOAD_MAX,
    CorruptJournal,
    UnknownJournal,
    check_header,
    has_header,
    header,
    never_synced,
    pack,
    record_at,
    scan,
)
from nodes.storage.sealed_file import seal, unseal
from nodes.world import Disk

SEGMENT_BYTES = 16 << 20
SEGMENT_NAME = re.compile(r"^[0-9]{20}$")
RECENT = 512
"""Records kept in memory for readers of the end."""
RUN_BYTES = 1 << 20
"""Bytes of a segment that are read at once, if not a single record."""

DOUBT_FILE = "doubtful"
MAGIC = b"CLVRDOUB"
FORMAT = 1

__all__ = ["CorruptJournal", "Doubt", "Journal", "UnknownJournal"]


class Doubt(msgspec.Struct, frozen=True, array_like=True):
    """The last record that is surely here. Lost records behind it may have been acknowledged (safety rule 23)."""

    epoch: int
    sn: int


class Segment:
    """One file: records from `first_sn` on; `ends[i]` is where record `first_sn + i` ends."""

    def __init__(self, path: str, first_sn: int):
        self.path = path
        self.first_sn = first_sn
        self.ends = array("Q")
        self.durable = False
        """Whether a record in the file is durable, and with it every earlier one."""

    @property
    def next_sn(self) -> int:
        return self.first_sn + len(self.ends)

    @property
    def size(self) -> int:
        return self.ends[-1] if self.ends else HEADER.size

    def start(self, sn: int) -> int:
        index = sn - self.first_sn
        return self.ends[index - 1] if index else HEADER.size

    def last_epoch(self, disk: Disk) -> int:
        """Epoch of the last record; 0 when there is none. Raises OSError."""
        if not self.ends:
            return 0
        start = self.start(self.next_sn - 1)
        entry = record_at(disk.read(self.path, start, self.size - start), 0)
        return 0 if entry is None else entry.epoch


class Journal:
    """Records with dense serial numbers `first_sn` … `last_sn`; `last_sn` is `first_sn - 1` when there is none."""

    def __init__(
        self, disk: Disk, directory: str, knobs: Knobs = NO_KNOBS, mutations: Mutations = NO_MUTATIONS
    ):
        self._disk = disk
        self._directory = directory
        self._segment_bytes = knobs.segment_bytes or SEGMENT_BYTES
        self._recent_max = knobs.recent_records or RECENT
        self._checks_reads = not mutations.old_rot_unseen
        self._segments: list[Segment] = []
        self._recent: OrderedDict[int, bytes] = OrderedDict()
        self._in_files = 0
        """Records up to this sn are in their files, durable or not: only they can be read from there."""
        self._pending: list[tuple[Segment, bytes]] = []
        self._gone: list[str] = []
        self._cut: tuple[str, int] | None = None
        self._files = Appending(disk)
        self._turn = asyncio.Lock()
        self._fresh = False
        """The only segment must be created on the disk although it has no records."""
        self._failed: OSError | None = None
        self.cut_bytes = 0
        """Bytes behind the last whole record at opening; the first sync removes them."""
        self.doubtful: Doubt | None = None
        """Set while acknowledged records may be missing: the owner counts in no quorum."""
        self._doubt_path = f"{directory}/{DOUBT_FILE}"
        self._doubt_is_kept = False
        self._read_back: tuple[Segment, int] | None = None
        """The last segment and the valid length of its file, until it is written into a new file."""

    @classmethod
    def open(
        cls, disk: Disk, directory: str, mutations: Mutations = NO_MUTATIONS, knobs: Knobs = NO_KNOBS
    ) -> Journal:
        """Reads the journal on the disk. Raises CorruptJournal, SealBroken, OSError; alters nothing."""
        journal = cls(disk, directory, knobs, mutations)
        names = disk.names(directory)
        segments = [name for name in names if name.endswith(".seg")]
        for name in segments:
            journal._read_segment(name, last=name == segments[-1])
        if DOUBT_FILE in names:
            path = journal._doubt_path
            journal.doubtful = unseal(path, MAGIC, FORMAT, disk.read(path), Doubt)
            journal._doubt_is_kept = True
        if mutations.cut_is_forgotten:
            journal.doubtful = None
        if mutations.sync_failed_then_trusted:
            journal._read_back = None
        if not journal._segments:
            journal._segments.append(Segment(journal._path(1), 1))
        journal._in_files = journal.last_sn
        return journal

    def _path(self, first_sn: int) -> str:
        return f"{self._directory}/{first_sn:020d}.seg"

    def _read_segment(self, name: str, last: bool) -> None:
        path, stem = f"{self._directory}/{name}", name.removesuffix(".seg")
        if not SEGMENT_NAME.match(stem):
            raise CorruptJournal(path, 0, 0, "a segment is named by the 20 digits of its first sn")
        segment = Segment(path, int(stem))
        if self._segments and self._segments[-1].next_sn != segment.first_sn:
            raise CorruptJournal(
                path, 0, segment.first_sn, f"sn {self._segments[-1].next_sn} should come next"
            )
        data = self._disk.read(path)
        valid = epoch = 0
        if has_header(data):
            check_header(path, data, segment.first_sn)
            for entry in scan(path, data, segment.first_sn, last):
                segment.ends.append(entry.end)
                epoch = entry.epoch
            valid = segment.size
        elif not last:
            raise CorruptJournal(
                path,
                0,
                segment.first_sn,
                "the head is cut off, or was never written, and another segment follows",
            )
        if len(data) > valid:
            self.cut_bytes = len(data) - valid
            self._cut = (path, valid)
            if valid and not never_synced(data, valid, segment.next_sn):
                if not epoch and self._segments:
                    epoch = self._segments[-1].last_epoch(self._disk)
                self.doubtful = Doubt(epoch, segment.next_sn - 1)
        self._read_back = (segment, valid)
        segment.durable = not last
        self._segments.append(segment)

    @property
    def first_sn(self) -> int:
        return self._segments[0].first_sn

    @property
    def last_sn(self) -> int:
        return self._segments[-1].next_sn - 1

    @property
    def oldest_end(self) -> int:
        """The last sn of the oldest of several segments; 0 when there is only one."""
        return self._segments[1].first_sn - 1 if len(self._segments) > 1 else 0

    @property
    def size(self) -> int:
        """Size of all segments in bytes."""
        return sum(segment.size for segment in self._segments)

    def bytes_behind(self, sn: int) -> int:
        """Bytes of the records after sn."""
        size = 0
        for segment in reversed(self._segments):
            if segment.first_sn <= sn:
                return size + segment.size - segment.start(min(sn + 1, segment.next_sn))
            size += segment.size
        return size

    # --- index -----------------------------------------------------------------------------------------------------

    def append(self, sn: int, epoch: int, data: bytes) -> None:
        """Takes the next record. Raises ValueError for another sn or an absurd size, OSError after a failed sync."""
        self._check()
        segment = self._segments[-1]
        if sn != segment.next_sn:
            raise ValueError(f"sn {sn} appended after {self.last_sn}")
        if len(data) > PAYLOAD_MAX:
            raise ValueError(f"a record of {len(data)} bytes; {PAYLOAD_MAX} is the most")
        if segment.size >= self._segment_bytes:
            segment = Segment(self._path(sn), sn)
            self._segments.append(segment)
        segment.ends.append(segment.size + OVERHEAD + len(data))
        self._pending.append((segment, pack(sn, epoch, data)))
        self._recent[sn] = data
        while len(self._recent) > self._recent_max and next(iter(self._recent)) <= self._in_files:
            self._recent.popitem(last=False)

    def entries(self, from_sn: int, to_sn: int) -> Iterator[tuple[int, bytes]]:
        """(sn, payload) of the records in this range, both ends included. Raises CorruptJournal for a rotten record, OSError."""
        sn, last = max(from_sn, self.first_sn), min(to_sn, self.last_sn)
        while sn <= last:
            data = self._recent.get(sn)
            for payload in self._read_run(sn, last) if data is None else [data]:
                yield sn, payload
                sn += 1

    def _read_run(self, sn: int, last: int) -> list[bytes]:
        """The payloads from `sn` on that are contiguous in its segment and not in memory, at most `RUN_BYTES`."""
        segment = self._segment_of(sn)
        start, ends = segment.start(sn), segment.ends
        index = stop = sn - segment.first_sn
        most = min(last, segment.next_sn - 1) - segment.first_sn
        while stop < most and ends[stop + 1] - start <= RUN_BYTES:
            if segment.first_sn + stop + 1 in self._recent:
                break
            stop += 1
        run = self._disk.read(segment.path, start, ends[stop] - start)
        bounds = list(pairwise([start, *ends[index : stop + 1]]))
        if self._checks_reads:
            for place, (begin, end) in enumerate(bounds, sn):
                entry = record_at(run, begin - start)
                if entry is None or (entry.sn, entry.end) != (place, end - start):
                    raise CorruptJournal(
                        segment.path, begin, place, "the record has rotted since it was written"
                    )
        return [run[begin - start + OVERHEAD : end - start] for begin, end in bounds]

    def last_within(self, from_sn: int, to_sn: int, most_bytes: int) -> int:
        """The last sn up to which the payloads from `from_sn` on fit into `most_bytes`; at least `from_sn`. Reads no file."""
        sn, last, left = from_sn, min(to_sn, self.last_sn), most_bytes
        while sn <= last:
            segment = self._segment_of(sn)
            for each in range(sn, min(last, segment.next_sn - 1) + 1):
                left -= segment.ends[each - segment.first_sn] - segment.start(each) - OVERHEAD
                if left < 0:
                    return max(from_sn, each - 1)
            sn = segment.next_sn
        return max(from_sn, last)

    def _segment_of(self, sn: int) -> Segment:
        return self._segments[bisect_right(self._segments, sn, key=lambda segment: segment.first_sn) - 1]

    def restart_at(self, first_sn: int) -> None:
        """Forgets every record; `first_sn` comes next."""
        self._gone += [segment.path for segment in reversed(self._segments)]
        self._segments = [Segment(self._path(first_sn), first_sn)]
        self._pending.clear()
        self._recent.clear()
        self._in_files = first_sn - 1
        self._cut = None
        self._fresh = True

    def _cut_after(self, sn: int) -> None:
        while len(self._segments) > 1 and self._segments[-1].first_sn > sn:
            self._gone.append(self._segments.pop().path)
        segment = self._segments[-1]
        del segment.ends[max(0, sn + 1 - segment.first_sn) :]
        kept = {id(each) for each in self._segments}
        self._pending = [p for p in self._pending if id(p[0]) in kept and _sn(p[1]) <= sn]
        self._in_files = min(self._in_files, sn)
        for later in [each for each in self._recent if each > sn]:
            del self._recent[later]
        if not any(each is segment for each, _ in self._pending):
            self._cut = (segment.path, segment.size)

    # --- disk ------------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        """Raises after a failed sync: the state of the disk is then unknown, and only opening the journal again shows it."""
        if self._failed is not None:
            raise OSError(
                self._failed.errno, f"the journal failed before: {self._failed.strerror}", self._directory
            )

    async def sync(self) -> None:
        """Makes all earlier calls durable. Raises OSError, and from then on always."""
        async with self._turn:
            self._check()
            try:
                await self._carry_out()
            except OSError as error:
                self._failed = error
                raise

    async def _carry_out(self) -> None:
        """Carries out removals from the last to the first, so that any crash leaves a valid journal; then the records read back, the cut, new
        records."""
        await self._keep_doubt()
        gone, self._gone = self._gone, []
        read_back, self._read_back = self._read_back, None
        cut, self._cut = self._cut, None
        pending, self._pending = self._pending, []
        fresh, self._fresh = self._fresh, False
        for path in gone:
            self._files.remove(path)
        if read_back is not None and read_back[0].path not in gone:
            segment, valid = read_back
            await self._disk.replace(segment.path, self._disk.read(segment.path, 0, valid))
            segment.durable = valid > HEADER.size
        there = cut is not None and cut[0].rpartition("/")[2] in self._disk.names(self._directory)
        if cut is not None and cut[0] not in gone and there:
            await self._files.opened(cut[0]).truncate(cut[1])
        if fresh and not pending:
            await self._write(self._segments[-1], b"", self._in_files)
        while pending:
            segment = pending[0][0]
            records = [record for each, record in pending if each is segment]
            del pending[: len(records)]
            await self._write(segment, b"".join(records), _sn(records[-1]))

    async def _keep_doubt(self) -> None:
        if self.doubtful is not None and not self._doubt_is_kept:
            await self._disk.replace(self._doubt_path, seal(MAGIC, FORMAT, self.doubtful))
            self._doubt_is_kept = True

    async def renewed(self) -> None:
        """Ends the doubt: the owner has received all that was acknowledged, or no server takes this journal for the former one any more.

        Durable on return. Raises OSError.
        """
        await self.sync()
        self.doubtful = None
        if self._doubt_is_kept:
            self._doubt_is_kept = False
            self._files.remove(self._doubt_path)

    async def _write(self, segment: Segment, data: bytes, last_sn: int) -> None:
        file = self._files.opened(segment.path)
        file.append(data if file.size else header(segment.first_sn) + data)
        self._in_files = min(last_sn, self.last_sn)
        await file.sync()
        segment.durable = True

    async def truncate_after(self, sn: int) -> None:
        """Removes every record after sn; durable on return. Raises OSError."""
        self._cut_after(sn)
        await self.sync()

    async def reset(self, first_sn: int) -> None:
        """Removes every record; durable on return. Raises OSError."""
        self.restart_at(first_sn)
        await self.sync()

    def drop_before(self, sn: int) -> None:
        """Removes whole segments without records from sn on; durable some time later.

        The next one must be durable: otherwise a power loss could leave no record, or a sync could write the file again behind its removal.
        """
        while len(self._segments) > 1 and self._segments[1].first_sn <= sn and self._segments[1].durable:
            self._files.remove(self._segments.pop(0).path)


def _sn(record: bytes) -> int:
    return int.from_bytes(record[8:16], "little")
