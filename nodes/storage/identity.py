"""The identity of a disk: an instance number, made when the disk is first used, and durable before it is sent in any message (safety rule 23).

A group's record of its members names the disk of each. A server on another disk, new and empty or restored from an old copy, is no member
until it has received the group's state and its disk has been recorded.

A journal that lost a possibly acknowledged tail gives its disk a new instance number and keeps the earlier ones. A server that counts members
can then distinguish a disk that may lack data from one that never belonged to a member.
"""

from __future__ import annotations

from random import Random

from nodes.storage.found_names import keep_names
from nodes.storage.journal_file import Journal
from nodes.storage.sealed_file import seal, unseal
from nodes.trace.events import Warned
from nodes.units import DiskId
from nodes.world import World

DISK_FILE = "disk"
IMAGES = "image"
MAGIC = b"CLVRDISK"
FORMAT = 1
DOUBTS = "this server counts again when its disk is recorded anew"
BEFORE_MAX = 16
INSTANCE_BITS = 53
"""Width of a number that JavaScript and JSON represent exactly."""


class DiskIdentity:
    """The identity of this server's disk. `id` may be used in any message once `keep` has returned."""

    def __init__(self, world: World, journal: Journal, file: str = DISK_FILE):
        """Raises SealBroken, OSError; alters nothing."""
        self._disk = world.disk
        self._journal = journal
        self._file = file
        self._names_kept = False
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
        """Makes the identity durable, the names of images that the journal may continue, and the records that the journal read back. From then on
        the journal's own mark of doubt is not needed. Raises OSError."""
        if not self._is_kept:
            await self._disk.replace(self._file, seal(MAGIC, FORMAT, self.id))
            self._is_kept = True
        if not self._names_kept:
            await keep_names(self._disk, IMAGES)
            self._names_kept = True
        await self._journal.renewed()
