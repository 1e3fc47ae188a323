"""The identity of a server's disk, and whether the end of its journal is in doubt (safety rule 23).

A view names the disks of its members. A server with a replaced disk is not one of them, whatever its name. A journal whose damaged tail was cut
may have lost groups that were answered: a corrupt group looks like a torn one.
"""

from __future__ import annotations

from nodes.config import ClusterConfig
from nodes.mutations import Mutations
from nodes.storage.journal_file import Journal, JournalCorrupt
from nodes.storage.sealed import SealBroken
from nodes.trace.events import Warned
from nodes.world import World

IDENTITY = "identity"


class OwnDisk:
    """The disk of one journal; `suffix` is the suffix of the journal's directory. Raises OSError while the disk fails."""

    def __init__(self, world: World, suffix: str, journal: Journal, mutations: Mutations):
        self._world = world
        self._directory = f"member{suffix}"
        self._journal = journal
        self.identity = ""
        self.doubtful = journal.doubtful is not None and not mutations.rot_revives_alone
        self._anybody = mutations.replaced_disk_votes

    async def seal(self) -> None:
        """Gives a fresh disk its identity and reads it."""
        world, path = self._world, f"{self._directory}/{IDENTITY}"
        if IDENTITY not in world.disk.names(self._directory):
            drawn = f"{world.clock.wall_ns():x}-{world.rng.getrandbits(64):016x}"
            await world.disk.replace(path, drawn.encode())
        if not self._anybody:
            self.identity = world.disk.read(path).decode("utf-8", "replace")

    def made_whole(self) -> None:
        """Clears the doubt, because the journal holds every group that a view began with. A crash before the write keeps the doubt, which is safe."""
        self.doubtful = False
        if self._journal.doubtful is not None:
            self._world.scope.spawn(self._journal.renewed(), "doubt")


def open_journal(world: World, cluster: ClusterConfig) -> tuple[Journal, str]:
    """This server's journal and the suffix of its directory.

    A journal that is damaged before its end, or has a damaged doubt mark, stays on disk for inspection. An empty journal with another
    identity replaces it. Its server counts in no view until it has caught up with the others.
    Raises Damaged for a format of the future, OSError.
    """

    def opened(directory: str) -> Journal:
        return Journal.open(world.disk, directory, cluster.mutations, cluster.knobs)

    number = 1
    while world.disk.names(f"member-{number + 1}"):
        number += 1
    suffix = f"-{number}" if number > 1 else ""
    try:
        return opened(f"journal{suffix}"), suffix
    except (JournalCorrupt, SealBroken) as damage:
        if type(damage) not in (JournalCorrupt, SealBroken):
            raise
        suffix = f"-{number + 1}"
        world.trace.emit(Warned(f"{damage}; journal{suffix} takes its place, empty"))
        return opened(f"journal{suffix}"), suffix
