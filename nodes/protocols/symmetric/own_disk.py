"""What a server's disk says of itself: which disk it is, and whether the end of its journal is in doubt (safety rule 23).

A view names the disks of its members. A server whose disk was replaced is none of them, whatever its name. A journal whose damaged tail was
cut may have had groups that everybody was answered by: a rotted group looks like a torn one.
"""

from __future__ import annotations

from nodes.mutations import Mutations
from nodes.storage.journal_file import Journal, JournalCorrupt
from nodes.trace.events import Warned
from nodes.world import World

IDENTITY, DOUBT = "identity", "doubt"


class OwnDisk:
    """Beside one journal; `suffix` is that of the journal's directory. Raises OSError while the disk fails."""

    def __init__(self, world: World, suffix: str, cut_bytes: int, mutations: Mutations):
        self._world = world
        self._directory = f"member{suffix}"
        self._there = world.disk.names(self._directory)
        self.identity = ""
        self.doubtful = bool(cut_bytes or DOUBT in self._there) and not mutations.rot_revives_alone
        self._anybody = mutations.replaced_disk_votes

    def _path(self, file: str) -> str:
        return f"{self._directory}/{file}"

    async def seal(self) -> None:
        """Gives a fresh disk its identity. The doubt is durable before anything cuts the damaged tail from the file."""
        world = self._world
        if self.doubtful and DOUBT not in self._there:
            await world.disk.replace(self._path(DOUBT), b"the journal had a damaged tail\n")
        if IDENTITY not in self._there:
            drawn = f"{world.clock.wall_ns():x}-{world.rng.getrandbits(64):016x}"
            await world.disk.replace(self._path(IDENTITY), drawn.encode())
        if not self._anybody:
            self.identity = world.disk.read(self._path(IDENTITY)).decode("utf-8", "replace")
        self._there = world.disk.names(self._directory)

    def made_whole(self) -> None:
        """The journal holds everything that a view began with."""
        self.doubtful = False
        if DOUBT in self._there:
            self._there.remove(DOUBT)
            self._world.disk.remove(self._path(DOUBT))


def open_journal(world: World) -> tuple[Journal, str]:
    """This server's journal and the suffix of its directory.

    One that is damaged before its end stays where it is, for a person to look at, and an empty one with another identity takes its place: its
    server counts for nothing until it has been brought what the others have. Raises Damaged for a format of the future, OSError.
    """
    number = 1
    while world.disk.names(f"member-{number + 1}"):
        number += 1
    suffix = f"-{number}" if number > 1 else ""
    try:
        return Journal.open(world.disk, f"journal{suffix}"), suffix
    except JournalCorrupt as damage:
        if type(damage) is not JournalCorrupt:
            raise
        suffix = f"-{number + 1}"
        world.trace.emit(Warned(f"{damage}; journal{suffix} takes its place, empty"))
        return Journal.open(world.disk, f"journal{suffix}"), suffix
