"""A replica's journal with the chain of its groups: logs are compared by (incarnation, epoch, sn, CRC), never by sn alone (safety rule 1)."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

import msgspec
from crc32c import crc32c

from nodes.storage.journal_file import Journal
from nodes.wire.messages import JournalGroup, Mark

NOTHING = Mark(0, 0, 0, 0)
TAILS_REPORTED = 64

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(JournalGroup)


def encode_group(group: JournalGroup) -> tuple[bytes, Mark]:
    data = _encoder.encode(group)
    return data, Mark(group.incarnation, group.epoch, group.sn, crc32c(data))


def decode_group(data: bytes) -> JournalGroup:
    """Raises msgspec.DecodeError, msgspec.ValidationError."""
    return _decoder.decode(data)


def named_fields(entry: msgspec.Struct) -> dict[str, Any]:
    """A journal's entry, which has `records`, for display: fields by name, each record with its kind."""
    fields = msgspec.structs.asdict(entry)
    reported: dict[str, Any] = msgspec.to_builtins(fields)
    reported["records"] = [
        {"kind": type(record).__name__, **msgspec.to_builtins(msgspec.structs.asdict(record))}
        for record in fields["records"]
    ]
    return reported


def mark_of(group: JournalGroup, data: bytes) -> Mark:
    return Mark(group.incarnation, group.epoch, group.sn, crc32c(data))


def base_under(journal: Journal, mark: Mark) -> Mark | None:
    """The mark before the first group of a journal that holds the group `mark`, or begins directly after it; None for any other journal."""
    if not journal.first_sn - 1 <= mark.sn <= journal.last_sn:
        return None
    first = next(iter(journal.entries(journal.first_sn, journal.first_sn)), None)
    if first is None:
        return mark
    base = decode_group(first[1]).previous
    if mark.sn < journal.first_sn:
        return base if base == mark else None
    [(_, data)] = journal.entries(mark.sn, mark.sn)
    return base if mark_of(decode_group(data), data) == mark else None


def last_in(journal: Journal) -> Mark:
    """The mark of a journal's last group; NOTHING when it has none."""
    last = next(iter(journal.entries(journal.last_sn, journal.last_sn)), None)
    return NOTHING if last is None else mark_of(decode_group(last[1]), last[1])


class ReplicaLog:
    """The journal on disk and, in memory, the mark of each of its groups.

    `base` is the mark before the first group: NOTHING, the last group inside an image, or the last group that was pruned.
    """

    def __init__(self, journal: Journal, base: Mark, compare_sn_only: bool):
        self._journal = journal
        self._compare_sn_only = compare_sn_only
        self.base = base
        self._incarnations = array("Q")
        self._epochs = array("Q")
        self._crcs = array("L")
        self.last = base

    def load(self) -> Iterator[JournalGroup]:
        """Reads the journal behind `base` once, and fills the marks; yields each group."""
        for sn, data in self._journal.entries(self.base.sn + 1, self._journal.last_sn):
            group = decode_group(data)
            assert group.sn == sn, f"journal entry {sn} holds group {group.sn}"
            self._push(mark_of(group, data))
            yield group

    def _push(self, mark: Mark) -> None:
        assert mark.sn == self.last.sn + 1, f"sn {mark.sn} after {self.last.sn}"
        self._incarnations.append(mark.incarnation)
        self._epochs.append(mark.epoch)
        self._crcs.append(mark.crc)
        self.last = mark

    def append(self, mark: Mark, data: bytes) -> None:
        """Appends a group, which is not durable before `sync`."""
        self._journal.append(mark.sn, mark.epoch, data)
        self._push(mark)

    async def sync(self) -> None:
        await self._journal.sync()

    @property
    def size(self) -> int:
        """Size of the journal in bytes."""
        return self._journal.size

    def bytes_behind(self, sn: int) -> int:
        """Bytes of the groups after sn."""
        return self._journal.bytes_behind(sn)

    def mark_at(self, sn: int) -> Mark | None:
        if sn == self.base.sn:
            return self.base
        index = sn - self.base.sn - 1
        if not 0 <= index < len(self._epochs):
            return None
        return Mark(self._incarnations[index], self._epochs[index], sn, self._crcs[index])

    def holds(self, mark: Mark) -> bool:
        """Whether this very group, and so every group before it, is in the journal or in the image under it."""
        mine = self.mark_at(mark.sn)
        if self._compare_sn_only:
            return mine is not None
        return mine == mark

    def outlives(self, incarnation: int, epoch: int, sn: int) -> bool:
        """Whether the journal goes on in a later epoch without this group, though it was committed: a person forced a server that lacked it. Epochs
        only rise in a journal, so that one of before its beginning cannot be later than that."""
        mine = self.mark_at(max(self.base.sn, min(sn, self.last.sn)))
        assert mine is not None
        theirs, there = (incarnation, epoch), (mine.incarnation, mine.epoch)
        earlier_fits, later_fits = sn < self.base.sn and theirs < there, sn > self.last.sn and theirs > there
        fits = theirs == there or earlier_fits or later_fits
        return not fits and theirs < (self.last.incarnation, self.last.epoch)

    def has(self, sn: int, crc: int) -> bool:
        """Whether the group with this sn is here, by its CRC, which covers all groups before it."""
        return self.holds(Mark(0, 0, sn, crc)) if self._compare_sn_only else self.crc_at(sn) == crc

    def crc_at(self, sn: int) -> int:
        """CRC of the group with this sn; -1 when there is none."""
        index = sn - self.base.sn - 1
        return self._crcs[index] if 0 <= index < len(self._crcs) else -1

    def encoded(self, from_sn: int, to_sn: int, most_bytes: int | None = None) -> list[bytes]:
        """Encoded groups without a gap from `from_sn`; empty when the first is not there.

        Returns at most `most_bytes`, but at least one group. The disk is read only for groups that are returned. Raises OSError.
        """
        end = min(to_sn, self.last.sn)
        if from_sn <= self.base.sn or from_sn < self._journal.first_sn or end < from_sn:
            return []
        if most_bytes is not None:
            end = self._journal.last_within(from_sn, end, most_bytes)
        return [data for _, data in self._journal.entries(from_sn, end)]

    def group_at(self, sn: int) -> JournalGroup | None:
        """The group with this sn; None when it is not here. Raises OSError."""
        found = self.encoded(sn, sn)
        return decode_group(found[0]) if found else None

    def groups(self, from_sn: int) -> Iterator[JournalGroup]:
        for _, data in self._journal.entries(from_sn, self.last.sn):
            yield decode_group(data)

    def known_commit_sn(self) -> int:
        """The commit sn that the last group of the journal carries."""
        last = list(self._journal.entries(self.last.sn, self.last.sn))
        return decode_group(last[0][1]).commit_sn if last else self.base.sn

    async def cut(self, sn: int) -> None:
        """Removes every group after sn, durably."""
        assert sn >= self.base.sn, f"cut to {sn} below the image at {self.base.sn}"
        mark = self.mark_at(sn)
        assert mark is not None
        keep = sn - self.base.sn
        for column in (self._incarnations, self._epochs, self._crcs):
            del column[keep:]
        self.last = mark
        await self._journal.truncate_after(sn)

    async def restart_at(self, base: Mark) -> None:
        """Forgets the whole journal, because an image whose last group is `base` replaces it. Durable on return; groups may be appended before."""
        for column in (self._incarnations, self._epochs, self._crcs):
            del column[:]
        self.base = self.last = base
        await self._journal.reset(base.sn + 1)

    def prune(self, sn: int) -> bool:
        """Forgets groups up to sn, in whole segments of the journal; durable some time later. False when there were none."""
        self._journal.drop_before(sn + 1)
        gone = self._journal.first_sn - 1 - self.base.sn
        if gone <= 0:
            return False
        base = self.mark_at(self.base.sn + gone)
        assert base is not None
        for column in (self._incarnations, self._epochs, self._crcs):
            del column[:gone]
        self.base = base
        return True

    def incarnation_starts(self) -> list[int]:
        """The sn of each group here that begins an incarnation, ascending (incarnations only rise)."""
        starts: list[int] = []
        index = bisect_right(self._incarnations, self.base.incarnation)
        while index < len(self._incarnations):
            starts.append(self.base.sn + 1 + index)
            index = bisect_right(self._incarnations, self._incarnations[index])
        return starts

    def tails(self) -> list[Mark]:
        """The last mark of each epoch in the journal, oldest first, at most the newest 64."""
        ends: list[Mark] = []
        index = len(self._epochs) - 1
        while index >= 0 and len(ends) < TAILS_REPORTED:
            epoch = self._epochs[index]
            ends.append(Mark(self._incarnations[index], epoch, self.base.sn + 1 + index, self._crcs[index]))
            index = self._epoch_start(index) - 1
        if len(ends) < TAILS_REPORTED:
            ends.append(self.base)
        return ends[::-1]

    def _epoch_start(self, index: int) -> int:
        """First index of the run of equal epochs that contains `index` (epochs only rise)."""
        epoch, low, high = self._epochs[index], 0, index
        while low < high:
            middle = (low + high) // 2
            if self._epochs[middle] < epoch:
                low = middle + 1
            else:
                high = middle
        return low

    def agrees_up_to(self, tails: list[Mark]) -> int | None:
        """The largest sn up to which the journal with these tails is known to equal this one; None when unknown."""
        if self._compare_sn_only:
            return min(self.last.sn, tails[-1].sn) if tails else None
        for place in range(len(tails) - 1, -1, -1):
            theirs = tails[place]
            if self.holds(theirs):
                return theirs.sn
            end = self._end_of_epoch(theirs)
            start = tails[place - 1].sn if place else theirs.sn - 1
            if end is not None and start < end < theirs.sn:
                return end
        return None

    def _end_of_epoch(self, mark: Mark) -> int | None:
        """The last sn here below mark.sn that was written in mark's epoch; it may be that of an image from which the journal begins."""
        index = max(-1, min(mark.sn - self.base.sn - 1, len(self._epochs) - 1))
        while index >= 0 and self._epochs[index] > mark.epoch:
            index = self._epoch_start(index) - 1
        epoch = self.base.epoch if index < 0 else self._epochs[index]
        return self.base.sn + 1 + index if epoch == mark.epoch else None
