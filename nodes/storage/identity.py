"""Which disk this is: an instance number, made when a disk is first used, and durable before anybody hears of it (safety rule 23).

The record that says who counts in a group names the disk of each member. A server whose disk is another one, new and empty or put back from a
shelf, is no member until it has been given what the group holds and its disk has been recorded.

A journal that lost a tail that may have been acknowledged makes of its disk another one: the numbers it had before are kept, so that whoever counts
can tell a disk that may lack something from one that never was a member's.
"""

from __future__ import annotations

from random import Random

import msgspec

from nodes.storage.journal_file import Journal
from nodes.storage.sealed import seal, unseal
from nodes.trace.events import Warned
from nodes.world import World

DISK_FILE = "disk"
MAGIC = b"CLVRDISK"
FORMAT = 1
DOUBTS = "this server counts again when its disk is recorded anew"
BEFORE_MAX = 16
INSTANCE_BITS = 53
"""A number that JavaScript and JSON keep exactly."""


class DiskId(msgspec.Struct, frozen=True, array_like=True):
    """`before`: what the disk was called while it had all that it ever acknowledged, oldest first; empty while it still has."""

    instance: int
    before: tuple[int, ...] = ()


class Identity:
    """This server's disk. `id` may be used in any message once `keep` has returned."""

    def __init__(self, world: World, journal: Journal, file: str = DISK_FILE):
        """Raises SealBroken, OSError; alters nothing."""
        self._disk = world.disk
        self._journal = journal
        self._file = file
        try:
            stored = unseal(file, MAGIC, FORMAT, world.disk.read(file), DiskId)
        except FileNotFoundError:
            stored = None
        self._is_kept = stored is not None and journal.doubtful is None
        self.id = stored if stored is not None and self._is_kept else self._another(world, stored)

    def _another(self, world: World, stored: DiskId | None) -> DiskId:
        instance = Random(f"{world.name}/{world.clock.wall_ns()}").getrandbits(INSTANCE_BITS) or 1
        if self._journal.doubtful is None:
            return DiskId(instance)
        world.trace.emit(
            Warned(f"what the journal had behind {self._journal.doubtful.sn} is damaged: {DOUBTS}")
        )
        before = (0,) if stored is None else (*stored.before, stored.instance)
        return DiskId(instance, before[-BEFORE_MAX:])

    async def keep(self) -> None:
        """Makes the identity durable, and what the journal read back; from then on its own mark of doubt is not needed. Raises OSError."""
        if not self._is_kept:
            await self._disk.replace(self._file, seal(MAGIC, FORMAT, self.id))
            self._is_kept = True
        await self._journal.renewed()
