"""A server whose journal is damaged before its end quarantines it and begins with an empty disk (safety rule 23).

The identity of the disk is moved first, then the journal from its last segment to its first. A crash in between therefore leaves a journal
without an identity. Whatever that journal holds, the server does not count until it has received what the others have and its new disk has
been recorded. A journal that only caches a shared one is read again from there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nodes.storage.identity import DISK_FILE
from nodes.storage.journal_file import CorruptJournal, UnknownJournal
from nodes.storage.quarantine import move_aside, unused_directory
from nodes.storage.sealed_file import SealBroken, UnknownSeal
from nodes.trace import events
from nodes.world import World

JOURNAL = "journal"


def start_anew_if_damaged(
    world: World,
    start: Callable[[], None],
    files: Sequence[str] = (),
    journal: str = JOURNAL,
    identity: str = DISK_FILE,
) -> None:
    """Starts a server. `files` are quarantined together with its journal and its identity.

    An event names the damaged record. Raises UnknownJournal, UnknownSeal, other Damaged, OSError of the disk's content.
    """
    try:
        start()
    except (UnknownJournal, UnknownSeal):
        raise
    except CorruptJournal as corrupt:
        world.trace.emit(events.JournalCorrupt(corrupt.file, corrupt.offset, corrupt.sn, corrupt.reason))
        world.scope.spawn(
            _begin_anew(world, start, [identity, *files], journal, str(corrupt)), "setting aside"
        )
    except SealBroken as broken:
        world.scope.spawn(
            _begin_anew(world, start, [identity, *files], journal, str(broken)), "setting aside"
        )


async def _begin_anew(
    world: World, start: Callable[[], None], files: Sequence[str], journal: str, reason: str
) -> None:
    """Raises OSError."""
    disk = world.disk
    directory = unused_directory(disk, [journal])
    segments = [f"{journal}/{name}" for name in reversed(disk.names(journal))]
    await move_aside(disk, [*files, *segments], directory)
    world.trace.emit(
        events.Warned(f"{reason}; everything is moved to {directory}, and {world.name} begins anew")
    )
    start()
