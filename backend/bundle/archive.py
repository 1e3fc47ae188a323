"""A compressed archive that appears under its name when it is whole."""

from __future__ import annotations

import contextlib
import io
import os
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

from backend.bundle.redaction import Redaction
from backend.errors import Impossible, Malformed, reason_of

TOP = "cloverlab-bundle"
"""The directory that holds every member."""


class Archive:
    """Adds members, each without the known secrets."""

    def __init__(self, tar: tarfile.TarFile, redaction: Redaction):
        self._tar = tar
        self._redaction = redaction
        self._now = int(time.time())

    def add(self, name: str, data: bytes) -> None:
        """Raises OSError of the archive's file."""
        cleaned = self._redaction.clean(data)
        member = tarfile.TarInfo(f"{TOP}/{os.fsdecode(self._redaction.clean(os.fsencode(name)))}")
        member.size, member.mtime, member.mode = len(cleaned), self._now, 0o600
        self._tar.addfile(member, io.BytesIO(cleaned))


@contextlib.contextmanager
def writing(path: Path, redaction: Redaction) -> Iterator[Archive]:
    """Writes beside `path` as `.part`, and renames it at the end of the block. Raises Impossible when a file is in the way, Malformed when it
    cannot be written; nothing is left then."""
    refuse_existing(path)
    part = path.with_name(f"{path.name}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        raise Impossible(
            f"{part} exists: another bundle is being written, or one was broken off; remove it"
        ) from None
    except OSError as error:
        raise Malformed(f"cannot write {part}: {reason_of(error)}") from None
    try:
        with open(descriptor, "wb") as file:
            with tarfile.open(fileobj=file, mode="w:gz", format=tarfile.PAX_FORMAT) as tar:
                yield Archive(tar, redaction)
            file.flush()
            os.fsync(file.fileno())
        refuse_existing(path)
        part.rename(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise Malformed(f"cannot write {path}: {reason_of(error)}") from None
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def refuse_existing(path: Path) -> None:
    """Raises Impossible."""
    if os.path.lexists(path):
        raise Impossible(f"{path} exists already: give another name")
