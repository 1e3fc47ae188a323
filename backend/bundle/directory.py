"""What a bundle takes from a data directory: the configuration, the ends of logs, and the sizes of files. No content of any other file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from backend.fabrics.home import read_cluster_file

TAIL_BYTES = 64 * 1024
LISTED_MOST = 20_000
LOGS = ("*.err", "*.err.1", "*.out")


def configuration(directory: Path) -> bytes:
    """`cluster.json`, its known fields alone. Raises LabError, OSError."""
    found = read_cluster_file(directory / "cluster.json")
    return msgspec.json.format(msgspec.json.encode(found), indent=1)


def logs(directory: Path) -> list[Path]:
    """Logs that are regular files, in order."""
    found = [path for pattern in LOGS for path in (directory / "logs").glob(pattern)]
    return [path for path in sorted(found) if path.is_file() and not path.is_symlink()]


def tail(path: Path) -> bytes:
    """The last 64 KiB of a log, from a line's begin on, so that no half of a secret is left. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL_BYTES))
        end = file.read(TAIL_BYTES)
    return end if size <= TAIL_BYTES else end.partition(b"\n")[2]


def listing(directory: Path) -> bytes:
    """Sizes in bytes and paths of all files; of too many the first, and how many follow."""
    lines: list[str] = []
    more = more_bytes = 0
    for path, size in files(directory):
        if len(lines) < LISTED_MOST:
            lines.append(f"{size:>14}  {escaped(path.relative_to(directory))}")
        else:
            more, more_bytes = more + 1, more_bytes + size
    if more:
        lines.append(f"{more_bytes:>14}  in {more} more files")
    return "".join(f"{line}\n" for line in lines).encode()


def files(directory: Path) -> Iterator[tuple[Path, int]]:
    """Files below a directory with their sizes; links are not followed, and what vanishes meanwhile is left out."""
    for parent, directories, names in os.walk(directory):
        directories.sort()
        for name in sorted(names):
            path = Path(parent, name)
            try:
                yield path, path.lstat().st_size
            except FileNotFoundError:
                continue


def escaped(path: Path) -> str:
    """A path in one line of ASCII."""
    return str(path).encode("unicode_escape").decode()
