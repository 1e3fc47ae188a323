"""The ledgers that a bookie has forgotten: all of a group's below a low-water mark.

The mark is durable before any record of those ledgers is removed. A fence is therefore never forgotten without it, and a writer of a
forgotten ledger finds it refused after any crash.
"""

from __future__ import annotations

from nodes.storage.sealed_file import seal, unseal
from nodes.wire.journal_messages import LEDGERS_SHIFT
from nodes.world import Disk

LOW_WATER_FILE = "forgotten"
MAGIC = b"CLVRLDGR"
FORMAT = 1


class LowWater:
    def __init__(self, disk: Disk):
        """Raises SealBroken, OSError."""
        self._disk = disk
        try:
            found = unseal(LOW_WATER_FILE, MAGIC, FORMAT, disk.read(LOW_WATER_FILE), dict[int, int])
        except FileNotFoundError:
            found = {}
        self._marks = found

    def mark(self, ledger: int) -> int:
        """The first ledger of this one's group that is not forgotten."""
        group = ledger >> LEDGERS_SHIFT
        return self._marks.get(group, group << LEDGERS_SHIFT | 1)

    def covers(self, ledger: int) -> bool:
        """Whether this ledger is forgotten."""
        return ledger < self.mark(ledger)

    async def rise(self, below: int) -> None:
        """Forgets the ledgers of the group below this number, at once and durably. Raises OSError."""
        self._marks[below >> LEDGERS_SHIFT] = below
        await self._disk.replace(LOW_WATER_FILE, seal(MAGIC, FORMAT, self._marks))
