"""Writes a server's events. They are kept in memory during a turn and written in one call before the turn's messages leave."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import msgspec

from nodes.trace.base import Event
from nodes.trace.events import Stamped
from nodes.trace.files import HEAD, TraceDamaged, check_head, files_of, name_of, whole_records
from nodes.trace.present import UNKNOWN, Causal, Cause, Present, carrier_of, reported
from nodes.wire.codec import NAME_MOST

SEGMENT_BYTES = 4 << 20
"""Size of a file beyond which the next one begins. Whole files are removed when their events are stored elsewhere."""


class TraceWriter:
    """The writer of one process of a server. Event numbers continue from earlier processes, which `boot` counts."""

    def __init__(
        self,
        directory: Path,
        server: str,
        now_ns: Callable[[], int],
        wanted: Callable[[], None],
        causal: Causal | None = None,
    ):
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self.server = server
        self._name = server[:NAME_MOST]
        """The server's name as a cause, which is limited in frames."""
        self._now_ns = now_ns
        self._causal = causal or Present()
        self._wanted = wanted
        """Callback when events wait to be flushed."""
        self._encode = msgspec.msgpack.Encoder().encode
        self._buffer = bytearray()
        self._size = 0
        self._file = -1
        self.boot, self._number = self._recall()
        self.boot += 1

    def _recall(self) -> tuple[int, int]:
        """Opens the last file behind its last whole record; returns (boot, number) of the last event. Raises TraceDamaged."""
        files = files_of(self._directory)
        for path in reversed(files):
            data = path.read_bytes()
            end = len(HEAD)
            found: list[Stamped] = []
            if len(data) >= len(HEAD):
                check_head(path, data)
                found, end = whole_records(path, data, len(HEAD))
            if not found:
                path.unlink()
                continue
            os.truncate(path, end)
            self._open(path)
            return found[-1].boot, found[-1].number
        return 0, 0

    def _open(self, path: Path) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._size = os.fstat(self._file).st_size
        if not self._size:
            self._size = os.write(self._file, HEAD)

    def emit(self, event: Event) -> int:
        if not self._buffer:
            self._wanted()
        number = self._number = self._number + 1
        name, causal = self._name, self._causal
        server, cause = causal.cause if causal.cause is UNKNOWN else reported(causal.cause)
        if server == name:
            server = ""
        carrier = carrier_of(causal.cause)
        causal.cause = (name, number)
        record = self._encode(
            Stamped(self.server, self.boot, number, self._now_ns(), cause, event, server, carrier)  # type: ignore[arg-type]
        )
        self._buffer += len(record).to_bytes(4, "little")
        self._buffer += record
        return number

    def at(self) -> Cause:
        return self._causal.cause

    def follows(self, cause: Cause) -> None:
        self._causal.cause = cause

    def flush(self) -> None:
        """Writes all pending events at once. Raises OSError and keeps all of them: messages that were sent after them must not leave before they
        are written."""
        if not self._buffer:
            return
        if self._file < 0 or self._size > SEGMENT_BYTES:
            self._open(self._directory / name_of(self._first_in_buffer()))
        written = os.write(self._file, self._buffer)
        if written < len(self._buffer):
            os.ftruncate(self._file, self._size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._directory))
        self._buffer = bytearray()
        self._size += written

    def _first_in_buffer(self) -> int:
        found, _ = whole_records(self._directory, bytes(self._buffer), 0)
        return found[0].number

    def trim(self, below: int) -> int:
        """Removes whole files whose events all have smaller numbers; returns the number of removed files."""
        files = files_of(self._directory)
        gone = [path for path, following in pairwise(files) if int(following.stem) <= below]
        for path in gone:
            path.unlink()
        return len(gone)

    def close(self) -> None:
        self.flush()
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


__all__ = ["TraceDamaged", "TraceWriter"]
