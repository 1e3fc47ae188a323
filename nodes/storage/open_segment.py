"""The one file of a journal that is open for appending."""

from __future__ import annotations

from nodes.world import AppendFile, Disk


class Appending:
    def __init__(self, disk: Disk):
        self._disk = disk
        self._file: tuple[str, AppendFile] | None = None

    def opened(self, path: str) -> AppendFile:
        """Opens a file, in place of another one."""
        if self._file is None or self._file[0] != path:
            self._close()
            self._file = (path, self._disk.open_append(path))
        return self._file[1]

    def remove(self, path: str) -> None:
        """Removes a file, open or not; has no effect when there is none. Raises OSError."""
        if self._file is not None and self._file[0] == path:
            self._close()
            self._file = None
        try:
            self._disk.remove(path)
        except FileNotFoundError:
            pass

    def _close(self) -> None:
        if self._file is not None:
            self._file[1].close()
