"""The log of decisions that the classic two-phase commit writes beside the journal: one record for each, never read but by people.

After a crash the elected recommits what it finds prepared, so that nobody has to look a decision up.
"""

from __future__ import annotations

import msgspec

from nodes.storage.journal_file import Journal
from nodes.world import Disk

DIRECTORY = "decisions"


class DecisionLog:
    def __init__(self, disk: Disk):
        self._disk = disk
        self._journal: Journal | None = None
        """Opened by the first decision."""

    def append(self, epoch: int, sn: int) -> None:
        """Not durable before `sync`. Raises JournalCorrupt, OSError."""
        journal = self._journal = self._journal or Journal.open(self._disk, DIRECTORY)
        journal.append(journal.last_sn + 1, epoch, msgspec.msgpack.encode((epoch, sn)))
        journal.drop_before(journal.last_sn)

    async def sync(self) -> None:
        if self._journal is not None:
            await self._journal.sync()
