"""Names that an earlier process gave to files: they count only once their directory is synced, because it may have ended before it did so."""

from __future__ import annotations

import contextlib

from nodes.world import Disk


async def keep_names(disk: Disk, directory: str) -> None:
    """Makes the names in a directory durable, by a renaming that changes nothing and needs no room. Raises OSError."""
    for name in disk.names(directory):
        path = f"{directory}/{name}"
        with contextlib.suppress(FileNotFoundError):  # It may be removed meanwhile: then another one serves.
            return await disk.move(path, path)
