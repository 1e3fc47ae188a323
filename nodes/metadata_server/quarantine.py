"""A server whose disk cannot be read moves what lies there out of the way and goes on as one that counts for nothing (safety rule 23).

The file `unfit` is written first. As long as it is there the server answers no election and draws for no lock, whatever its new journal holds: what
it acknowledged in its earlier life may lie aside. It goes when the view calls the server a standby, for then it has been given all that was
acknowledged. It is a sealed file (nodes/storage/sealed.py).
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from nodes.metadata_server.checkpoints import incarnation
from nodes.storage.aside import move_aside, unused_directory
from nodes.storage.identity import DISK_FILE
from nodes.storage.sealed import SealBroken, UnknownSeal, seal, unseal
from nodes.world import Disk

FILE = "unfit"
MAGIC = b"CLVRUNFT"
FORMAT = 1
JOURNAL, IMAGES = "journal", "image"


class Unfit(msgspec.Struct, array_like=True, frozen=True):
    reason: str
    directory: str
    """Where everything was moved."""
    moved: bool
    """False until all of it was: what a crash left in its place is not to be read."""


def stored_unfit(disk: Disk) -> Unfit | None:
    """None for a server that counts. Raises UnknownSeal, OSError."""
    try:
        return unseal(FILE, MAGIC, FORMAT, disk.read(FILE), Unfit)
    except FileNotFoundError:
        return None
    except UnknownSeal:
        raise
    except SealBroken as broken:
        return Unfit(str(broken), "", False)


async def quarantine(disk: Disk, reason: str, files: Sequence[str]) -> Unfit:
    """Moves journal, images and all small files, `files` of the family among them, under `aside/`; durable when it returns.

    Whoever finds it unfinished begins it again.

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
