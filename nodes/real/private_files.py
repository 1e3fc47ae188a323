"""Files and directories that only their owner can read or replace, also in a directory where another user can plant names."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path

NEW = ".new"


def private_directory(path: Path) -> None:
    """Makes a directory of mode 0700 where there is none. Raises PermissionError for one that another user can change.

    A directory of root's may be writable for its group: that is how a volume is mounted for an unprivileged user.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    trusted = (os.getuid(), 0)
    found = path.stat()
    if path.lstat().st_uid not in trusted or found.st_uid not in trusted:
        raise PermissionError(f"{path} belongs to another user")
    others = stat.S_IWOTH if found.st_uid == 0 != os.getuid() else stat.S_IWOTH | stat.S_IWGRP
    if found.st_mode & others:
        raise PermissionError(f"{path} can be changed by other users; take their right to write")


def own_file(path: Path) -> bytes:
    """The content of a file of this user's, closed to others from now on. Raises OSError, also for a link."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        if os.fstat(descriptor).st_uid != os.getuid():
            raise PermissionError(f"{path} belongs to another user")
        os.fchmod(descriptor, 0o600)
        return file.read()


def replace_file(path: Path, data: bytes) -> None:
    """Replaces a file atomically, for its owner alone: a crash or a full disk leaves the old or the new content. Raises OSError."""
    new = path.with_name(f".{path.name}.{secrets.token_hex(8)}{NEW}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(new, flags, 0o600)
    try:
        try:
            _write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(new, path)
    except BaseException:
        with contextlib.suppress(OSError):
            new.unlink()
        raise


def replace_files(directory: Path, contents: dict[str, str]) -> None:
    """Replaces files of a private directory by name, and makes it where there is none. Raises OSError."""
    private_directory(directory)
    for name, content in contents.items():
        replace_file(directory / name, content.encode())


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def remove_unfinished(directory: Path) -> None:
    """Removes what a killed process left of `replace_file`. Only for the holder of the directory's lock."""
    for left in directory.glob(f".*{NEW}"):
        left.unlink(missing_ok=True)
