"""The log of decisions that the classic two-phase commit writes beside the journal, one record per decision.

No server reads it: after a crash the elected commits the prepared groups again.
"""

from __future__ import annotations

import msgspec

from nodes.storage.journal_file import Journal
from nodes.storage.quarantine import move_aside, unused_directory
from nodes.storage.records import CorruptJournal, UnknownJournal
from nodes.trace.events import Warned
from nodes.world import World

DIRECTORY = "decisions"


class DecisionLog:
    def __init__(self, world: World):
        self._world = world
        self._journal: Journal | None = None
        """The log on disk, opened by the first decision."""
        self._pending: list[tuple[int, int]] = []

    def append(self, epoch: int, sn: int) -> None:
        """Queues a decision, which `sync` makes durable."""
        self._pending.append((epoch, sn))

    async def sync(self) -> None:
        """Makes the queued decisions durable. Raises UnknownJournal, OSError."""
        pending, self._pending = self._pending, []
        if not pending:
            return
        journal = self._journal = self._journal or await self._opened()
        for epoch, sn in pending:
            journal.append(journal.last_sn + 1, epoch, msgspec.msgpack.encode((epoch, sn)))
            journal.drop_before(journal.last_sn)
        await journal.sync()

    async def _opened(self) -> Journal:
        """Opens the log. A damaged log is moved aside. The server needs no renewal, because no server reads the log."""
        disk = self._world.disk
        try:
            return Journal.open(disk, DIRECTORY)
        except UnknownJournal:
            raise
        except CorruptJournal as damaged:
            directory = unused_directory(disk, (DIRECTORY,))
            self._world.trace.emit(Warned(f"{damaged}; it is moved to {directory}"))
            await move_aside(disk, [f"{DIRECTORY}/{name}" for name in disk.names(DIRECTORY)], directory)
            return Journal.open(disk, DIRECTORY)
