"""Follows a server's trace by offset, over new files and restarts."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from nodes.trace.events import Stamped
from nodes.trace.files import HEAD, RECORD_MAX, check_head, files_of, whole_records

READ_BYTES = 1 << 20
"""Bytes that one call reads, so that a long past does not block an event loop."""


class TraceReader:
    """A reader of one trace, from the event behind number `after` on. `read` returns the records since the last call, in order; an
    incomplete record is returned later. Files that end before are never opened."""

    def __init__(self, directory: Path, after: int = 0):
        self._directory = directory
        self._after = after
        self._path: Path | None = None
        self._offset = 0

    def read(self) -> list[Stamped]:
        """The new records, at most some megabytes; empty when there is no directory. Raises TraceDamaged, OSError."""
        if self._path is None and not self._next_file():
            return []
        found, more = self._read_on()
        while not found and (more or self._next_file()):
            found, more = self._read_on()
        return found

    def _next_file(self) -> bool:
        files = files_of(self._directory)
        if self._path is None:
            begun = [path for path in files if int(path.stem) <= self._after + 1]
            later = files[max(0, len(begun) - 1) :]
        else:
            later = [path for path in files if path.name > self._path.name]
        if not later:
            return False
        self._path, self._offset = later[0], 0
        return True

    def _read_on(self) -> tuple[list[Stamped], bool]:
        """The next new events of the present file, and whether other ones were passed over."""
        assert self._path is not None
        try:
            with self._path.open("rb") as file:
                data = self._next_bytes(self._path, file)
        except FileNotFoundError:
            return [], False
        found, end = whole_records(self._path, data, 0)
        self._offset += end
        new = [stamped for stamped in found if stamped.number > self._after]
        return new, len(new) < len(found)

    def _next_bytes(self, path: Path, file: BinaryIO) -> bytes:
        """Bytes from the next record on: at most READ_BYTES, unless that record alone is longer."""
        if self._offset == 0:
            head = file.read(len(HEAD))
            if len(head) < len(HEAD):
                return b""
            check_head(path, head)
            self._offset = len(HEAD)
        file.seek(self._offset)
        data = file.read(READ_BYTES)
        if len(data) == READ_BYTES and int.from_bytes(data[:4], "little") > READ_BYTES - 4:
            data += file.read(RECORD_MAX)
        return data
