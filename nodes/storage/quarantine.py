"""Quarantine of unreadable files: they are moved to `aside/damaged-NN/` on the server's disk, for a person. Servers neither read nor remove
files there."""

from __future__ import annotations

from collections.abc import Iterable

from nodes.world import Disk


def unused_directory(disk: Disk, subdirectories: Iterable[str]) -> str:
    """The first directory `aside/damaged-NN` that has no files, nor any in these subdirectories."""
    below = ["", *(f"/{each}" for each in subdirectories)]
    number = 1
    while any(disk.names(f"aside/damaged-{number:02d}{each}") for each in below):
        number += 1
    return f"aside/damaged-{number:02d}"


async def move_aside(disk: Disk, paths: Iterable[str], directory: str) -> None:
    """Moves one file after the other and skips missing ones. Durable on return. Raises OSError."""
    for path in paths:
        try:
            await disk.move(path, f"{directory}/{path}")
        except FileNotFoundError:
            continue
