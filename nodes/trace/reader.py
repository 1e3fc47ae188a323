"""Follows a server's trace by offset, over new files and restarts."""

from __future__ import annotations

from pathlib import Path

from nodes.trace.events import Stamped
from nodes.trace.files import HEAD, check_head, files_of, whole_records

READ_BYTES = 4 << 20


class TraceReader:
    """A reader of one trace. `read` returns the records since the last call, in order; an incomplete record is returned later."""

    def __init__(self, directory: Path):
        self._directory = directory
        self._path: Path | None = None
        self._offset = 0

    def read(self) -> list[Stamped]:
        """The new records, at most some megabytes; empty when there is no directory. Raises TraceDamaged, OSError."""
        if self._path is None and not self._next_file():
            return []
        found = self._read_on()
        while not found and self._next_file():
            found = self._read_on()
        return found

    def _next_file(self) -> bool:
        files = files_of(self._directory)
        later = [path for path in files if self._path is None or path.name > self._path.name]
        if not later:
            return False
        self._path, self._offset = later[0], 0
        return True

    def _read_on(self) -> list[Stamped]:
        assert self._path is not None
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                data = file.read(READ_BYTES)
        except FileNotFoundError:
            return []
        begin = 0
        if self._offset == 0:
            if len(data) < len(HEAD):
                return []
            check_head(self._path, data)
            begin = len(HEAD)
        found, end = whole_records(self._path, data, begin)
        self._offset += end
        return found
