"""A bit that flips on a real disk."""

from __future__ import annotations

import os
from pathlib import Path

from nodes.real.control import BadQuestion
from nodes.storage.rot import NothingToRot, choose

DIRECTORIES = ("journal", "image", "blocks")


def corrupt(root: Path, what: str) -> str:
    """Flips one bit below a server's directory, whether the server runs or not; returns where. Raises BadQuestion when there is nothing to flip,
    OSError."""
    files = [path for directory in DIRECTORIES for path in (root / directory).glob("*") if path.is_file()]
    try:
        name, offset = choose(what, {str(path.relative_to(root)): path.stat().st_size for path in files})
    except NothingToRot as error:
        raise BadQuestion(str(error)) from None
    fd = os.open(root / name, os.O_RDWR)
    try:
        (octet,) = os.pread(fd, 1, offset)
        os.pwrite(fd, bytes([octet ^ 1]), offset)
    finally:
        os.close(fd)
    return f"{name} at byte {offset}"
