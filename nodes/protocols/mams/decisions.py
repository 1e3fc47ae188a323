"""The log of decisions that the classic two-phase commit writes beside the journal, one record per decision.

No server reads it: after a crash the elected commits the prepared groups again.
"""

from __future__ import annotations

import msgspec

from nodes.replicas.journal_quarantine import open_or_begin_anew
from nodes.storage.journal_file import Journal
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
        journal = self._journal = self._journal or await open_or_begin_anew(self._world, DIRECTORY)
        for epoch, sn in pending:
            journal.append(journal.last_sn + 1, epoch, msgspec.msgpack.encode((epoch, sn)))
            journal.drop_before(journal.last_sn)
        await journal.sync()
