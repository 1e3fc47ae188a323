"""What a server can no longer read is moved to `aside/damaged-NN/` on its disk, for a person; nothing there is ever removed or read by a server."""

from __future__ import annotations

from collections.abc import Iterable

from nodes.world import Disk


def unused_directory(disk: Disk, subdirectories: Iterable[str]) -> str:
    """The first `aside/damaged-NN` without files, in itself and in these subdirectories."""
    below = ["", *(f"/{each}" for each in subdirectories)]
    number = 1
    while any(disk.names(f"aside/damaged-{number:02d}{each}") for each in below):
        number += 1
    return f"aside/damaged-{number:02d}"


async def move_aside(disk: Disk, paths: Iterable[str], directory: str) -> None:
    """One file after the other; those that are not there are passed over. Durable when it returns. Raises OSError."""
    for path in paths:
        try:
            await disk.move(path, f"{directory}/{path}")
        except FileNotFoundError:
            continue
