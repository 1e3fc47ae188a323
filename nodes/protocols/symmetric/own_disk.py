"""What a server's disk says of itself: which disk it is, and whether the end of its journal is in doubt (safety rule 23).

A view names the disks of its members. A server whose disk was replaced is none of them, whatever its name. A journal whose damaged tail was
cut may have had groups that everybody was answered by: a rotted group looks like a torn one.
"""

from __future__ import annotations

from nodes.mutations import Mutations
from nodes.world import World

DIRECTORY = "member"
IDENTITY, DOUBT = f"{DIRECTORY}/identity", f"{DIRECTORY}/doubt"


class OwnDisk:
    """Raises OSError while the disk fails."""

    def __init__(self, world: World, cut_bytes: int, mutations: Mutations):
        self._world = world
        self._there = world.disk.names(DIRECTORY)
        self.identity = ""
        self.doubtful = bool(cut_bytes or "doubt" in self._there) and not mutations.rot_revives_alone
        self._anybody = mutations.replaced_disk_votes

    async def seal(self) -> None:
        """Gives a fresh disk its identity. The doubt is durable before anything cuts the damaged tail from the file."""
        world = self._world
        if self.doubtful and "doubt" not in self._there:
            await world.disk.replace(DOUBT, b"the journal had a damaged tail\n")
        if "identity" not in self._there:
            drawn = f"{world.clock.wall_ns():x}-{world.rng.getrandbits(64):016x}"
            await world.disk.replace(IDENTITY, drawn.encode())
        if not self._anybody:
            self.identity = world.disk.read(IDENTITY).decode("utf-8", "replace")
        self._there = world.disk.names(DIRECTORY)

    def made_whole(self) -> None:
        """The journal holds everything that a view began with."""
        self.doubtful = False
        if "doubt" in self._there:
            self._there.remove("doubt")
            self._world.disk.remove(DOUBT)
