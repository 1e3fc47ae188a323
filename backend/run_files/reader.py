"""Reads the file of a run piece by piece in bounded memory: every byte is checked before a line is handed on."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec
from crc32c import crc32c

from backend.run_files.records import (
    FORMAT,
    LINE_BYTES,
    LINES,
    UNPACKED_BYTES,
    End,
    Line,
    RunFileDamaged,
    RunFormat,
    RunHeader,
)
from backend.run_files.run_check import RunCheck
from backend.run_files.writer import GZIP
from backend.store.encoding import KINDS
from nodes.families import family_named

PIECE_BYTES = 1 << 20
REASON = 300
"""Longest reason, in characters."""
NO_RUN = "it is no file of a run: `runs export` and the page's menu of runs write one"
_decoder: Any = msgspec.json.Decoder(Line | End)


class RunFileReader:
    def __init__(self) -> None:
        self._unpacker = zlib.decompressobj(wbits=GZIP)
        self._buffer = bytearray()
        self._check: RunCheck | None = None
        self._crc = 0
        self._size = 0
        self._ended = False
        self.lines_read = 0

    def lines(self, data: bytes) -> Iterator[RunHeader | Line]:
        """The lines that the next bytes complete, the header first. Raises RunFileDamaged, after which no more may be given."""
        more = False
        while data or more:
            if data and self._unpacker.eof:
                raise RunFileDamaged("the run has ended, and more follows")
            try:
                piece = self._unpacker.decompress(data, PIECE_BYTES)
            except zlib.error:
                raise self._unreadable("its bytes are changed") from None
            data = self._unpacker.unconsumed_tail or self._unpacker.unused_data
            more = len(piece) == PIECE_BYTES
            self._size += len(piece)
            if self._size > UNPACKED_BYTES:
                raise RunFileDamaged(f"it has more than {UNPACKED_BYTES >> 30} GiB unpacked, the most")
            yield from self._split(piece)

    def finish(self) -> None:
        """Raises RunFileDamaged when the file is not whole."""
        if not (self._ended and self._unpacker.eof):
            raise self._unreadable("it is cut off")

    def _unreadable(self, reason: str) -> RunFileDamaged:
        if not self._size:
            return RunFileDamaged(NO_RUN)
        return RunFileDamaged(f"{reason} behind line {self.lines_read}: fetch the file again")

    def _split(self, piece: bytes) -> Iterator[RunHeader | Line]:
        start, searched = 0, len(self._buffer)
        self._buffer += piece
        while (end := self._buffer.find(b"\n", max(start, searched))) >= 0:
            line = self._line(bytes(self._buffer[start : end + 1]))
            if line is not None:
                yield line
            start = end + 1
        del self._buffer[:start]
        if len(self._buffer) > LINE_BYTES:
            if self._check is None:
                raise RunFileDamaged(NO_RUN)
            raise self._wrong(f"it has more than {LINE_BYTES} bytes, the most")

    def _wrong(self, reason: object) -> RunFileDamaged:
        return RunFileDamaged(f"line {self.lines_read + 1}: {plain(reason)}")

    def _line(self, text: bytes) -> RunHeader | Line | None:
        if self._ended:
            raise self._wrong("the run has ended, and more follows")
        if self._check is None:
            header = header_of(text)
            self._check = RunCheck(header)
            self._count(text)
            return header
        try:
            line: Line | End = _decoder.decode(text)
            if isinstance(line, End):
                self._end(line)
                return None
            self._check.see(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, RunFileDamaged) as error:
            raise self._wrong(unknown_event(text) or error) from None
        self._count(text)
        return line

    def _count(self, text: bytes) -> None:
        self._crc = crc32c(text, self._crc)
        self.lines_read += 1
        if self.lines_read > LINES:
            raise RunFileDamaged(f"it has more than {LINES} lines, the most")

    def _end(self, end: End) -> None:
        if (end.lines, end.checksum) != (self.lines_read, self._crc):
            raise RunFileDamaged("the lines before it are not those that were written")
        self._ended = True


def plain(reason: object) -> str:
    """A reason that may repeat what is in the file, fit for a terminal."""
    return "".join(each if each.isprintable() else "?" for each in str(reason)[:REASON])


def unknown_event(text: bytes) -> str:
    """What is wrong with a line whose event is of a kind that this version does not have; empty for any other line."""
    try:
        line, _, (_, _, _, _, _, (kind, *_), *_) = msgspec.json.decode(text)
    except (ValueError, TypeError, RecursionError):
        return ""
    if line != "event" or not isinstance(kind, str) or kind in KINDS:
        return ""
    return f"an event of kind {kind[:40]!r}, which this version does not have: open it with the version that wrote it"


def header_of(text: bytes) -> RunHeader:
    """The first line. Raises RunFileDamaged."""
    try:
        found = msgspec.json.decode(text, type=RunFormat).cloverrun
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise RunFileDamaged(NO_RUN) from None
    if found != FORMAT:
        raise RunFileDamaged(
            f"it has format {found}; this version reads format {FORMAT}: open it with the version that wrote it"
        )
    try:
        header = msgspec.json.decode(text, type=RunHeader)
        family_named(header.cluster.protocol)
        for time in (header.started_at, header.ended_at, header.exported_at):
            datetime.fromisoformat(time)
    except (ValueError, RecursionError) as error:
        raise RunFileDamaged(f"line 1: {plain(error)}") from None
    return header
