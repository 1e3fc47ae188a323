"""A server whose disk cannot be read quarantines the disk's content and continues as one that does not count (safety rule 23).

The file `unfit` is written first. While it exists the server answers no election and draws for no lock, whatever its new journal holds: groups
that it acknowledged before may lie in quarantine. The file is removed when the view calls the server a standby, because it has then received all
that was acknowledged. It is a sealed file (nodes/storage/sealed_file.py).
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from nodes.metadata_server.checkpoints import incarnation
from nodes.storage.identity import DISK_FILE, IMAGES
from nodes.storage.quarantine import move_aside, unused_directory
from nodes.storage.sealed_file import SealBroken, UnknownSeal, seal, unseal
from nodes.world import Disk

FILE = "unfit"
MAGIC = b"CLVRUNFT"
FORMAT = 1
JOURNAL = "journal"


class Unfit(msgspec.Struct, array_like=True, frozen=True):
    reason: str
    directory: str
    """The directory to which the files were moved."""
    moved: bool
    """False until every file has been moved. Files that a crash left in their place are not read."""


def stored_unfit(disk: Disk) -> Unfit | None:
    """The record of an unfit server; None for a server that counts. Raises UnknownSeal, OSError."""
    try:
        return unseal(FILE, MAGIC, FORMAT, disk.read(FILE), Unfit)
    except FileNotFoundError:
        return None
    except UnknownSeal:
        raise
    except SealBroken as broken:
        return Unfit(str(broken), "", False)


async def quarantine(disk: Disk, reason: str, files: Sequence[str]) -> Unfit:
    """Moves journal, images and all small files, including the family's `files`, under `aside/`. Durable on return.

    A caller that finds it unfinished begins it again.

    Raises OSError.
    """
    before = stored_unfit(disk)
    begun = before is not None and not before.moved and before.directory
    directory = (
        before.directory if before is not None and begun else unused_directory(disk, (JOURNAL, IMAGES))
    )
    unfit = Unfit(before.reason if before is not None and begun else reason, directory, False)
    await disk.replace(FILE, seal(MAGIC, FORMAT, unfit))
    await move_aside(disk, _everything(disk, files), directory)
    unfit = msgspec.structs.replace(unfit, moved=True)
    await disk.replace(FILE, seal(MAGIC, FORMAT, unfit))
    return unfit


def _everything(disk: Disk, small: Sequence[str]) -> list[str]:
    files = [f"{directory}/{name}" for directory in (JOURNAL, IMAGES) for name in disk.names(directory)]
    return [*files, *small, incarnation.FILE, DISK_FILE]
