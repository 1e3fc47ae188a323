"""Writes the file of a run piece by piece."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from crc32c import crc32c

from backend.run_files.records import End, Line, RunHeader, encoded

GZIP = 16 + zlib.MAX_WBITS


class RunFileWriter:
    """Each method returns the next bytes of the file."""

    def __init__(self) -> None:
        self._packer = zlib.compressobj(wbits=GZIP)
        self._lines = 0
        self._crc = 0

    def part(self, lines: Sequence[RunHeader | Line]) -> bytes:
        data = encoded(lines)
        self._lines += len(lines)
        self._crc = crc32c(data, self._crc)
        return self._packer.compress(data)

    def end(self) -> bytes:
        return self._packer.compress(encoded([End(self._lines, self._crc)])) + self._packer.flush()
