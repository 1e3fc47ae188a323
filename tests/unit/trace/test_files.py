"""Traces: no event is lost over restarts, rotation and torn tails; damage is one line."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any, get_args

import pytest

from nodes.trace import reader as reading
from nodes.trace import writer as writing
from nodes.trace.base import Event
from nodes.trace.events import AnyEvent, Cut, Started, Warned
from nodes.trace.files import TraceDamaged
from nodes.trace.reader import TraceReader
from nodes.trace.writer import TraceWriter


def writer(directory: Path) -> TraceWriter:
    return TraceWriter(directory, "mds1", lambda: 5, lambda: None)


def numbers(directory: Path) -> list[int]:
    reader, found = TraceReader(directory), []
    while events := reader.read():
        found += [stamped.number for stamped in events]
    return found


def test_a_reader_follows_over_restarts_and_new_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "SEGMENT_BYTES", 200)
    reader, seen = TraceReader(tmp_path), []
    assert reader.read() == []
    for life in range(4):
        trace = writer(tmp_path)
        assert trace.boot == life + 1
        for number in range(25):
            trace.emit(Cut(number, "because"))
            trace.flush()
            seen += [stamped.number for stamped in reader.read()]
        trace.close()
    while events := reader.read():
        seen += [stamped.number for stamped in events]
    assert seen == list(range(1, 101)) == numbers(tmp_path)
    assert len(list(tmp_path.iterdir())) > 3


def test_a_tail_torn_at_every_octet_is_cut_and_numbers_go_on(tmp_path: Path) -> None:
    trace = writer(tmp_path)
    trace.emit(Started(1, "a", 2))
    trace.flush()
    [path] = tmp_path.iterdir()
    whole = path.stat().st_size
    trace.emit(Cut(9, "torn"))
    trace.close()
    data = path.read_bytes()
    for size in range(whole, len(data)):
        path.write_bytes(data[:size])
        again = writer(tmp_path)
        assert again.emit(Cut(1, "on")) == 2 and again.boot == 2
        again.close()
        assert numbers(tmp_path) == [1, 2]


@pytest.mark.parametrize(
    ("offset", "value", "words"), [(0, 0, "is no trace"), (8, 7, "format 7"), (13, 255, "bytes at offset")]
)
def test_damage_is_reported_in_one_line(tmp_path: Path, offset: int, value: int, words: str) -> None:
    trace = writer(tmp_path)
    trace.emit(Started(1, "a", 2))
    trace.close()
    [path] = tmp_path.iterdir()
    data = bytearray(path.read_bytes())
    data[offset] = value
    path.write_bytes(data)
    with pytest.raises(TraceDamaged, match=words) as caught:
        TraceReader(tmp_path).read()
    assert "\n" not in str(caught.value)


def test_old_files_can_be_trimmed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "SEGMENT_BYTES", 100)
    trace = writer(tmp_path)
    for number in range(40):
        trace.emit(Cut(number, "x"))
        trace.flush()
    assert trace.trim(30) > 0
    assert numbers(tmp_path)[0] <= 30 and numbers(tmp_path)[-1] == 40


def test_every_event_can_be_read_back() -> None:
    known = set(get_args(AnyEvent))
    every = {kind for kind in Event.__subclasses__() if kind.__module__.startswith("nodes.trace.")}
    assert every == known


@pytest.mark.parametrize("written", [None, 7])
def test_what_cannot_be_written_waits_and_is_there_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: int | None
) -> None:
    """A full disk, or space for a part: messages that the server sends after the event must not leave before the event is written."""
    trace = writer(tmp_path)
    trace.emit(Cut(1, "because"))
    trace.flush()
    write = os.write

    def full(fd: int, data: Any) -> int:
        if written is None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(fd, bytes(data[:written]))

    trace.emit(Cut(2, "because"))
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        for _ in range(2):
            with pytest.raises(OSError, match="No space left"):
                trace.flush()
    trace.emit(Cut(3, "because"))
    trace.close()
    assert numbers(tmp_path) == [1, 2, 3]


def long_trace(directory: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """A trace of 100 events in several files."""
    monkeypatch.setattr(writing, "SEGMENT_BYTES", 200)
    trace = writer(directory)
    for number in range(100):
        trace.emit(Cut(number, "because"))
        trace.flush()
    trace.close()
    return sorted(directory.iterdir())


def test_a_reader_begins_where_the_last_one_ended_and_opens_no_earlier_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = long_trace(tmp_path, monkeypatch)
    for path in files[:-2]:
        path.write_bytes(b"of no interest any more")
    first = int(files[-2].stem)
    for after in (first - 1, first + 1, 99):
        assert [each.number for each in TraceReader(tmp_path, after).read()][:1] == [after + 1]
    assert TraceReader(tmp_path, 100).read() == []


def test_a_reader_of_a_trimmed_trace_begins_with_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = long_trace(tmp_path, monkeypatch)
    for path in files[:3]:
        path.unlink()
    assert TraceReader(tmp_path, 0).read()[0].number == int(files[3].stem)


def test_a_record_longer_than_a_read_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "READ_BYTES", 256)
    trace = writer(tmp_path)
    for number in range(3):
        trace.emit(Cut(number, "because" * 100))
    trace.close()
    assert numbers(tmp_path) == [1, 2, 3]


class Future(Event, frozen=True, array_like=True, gc=False):
    """An event of a later version."""

    count: int


def test_an_event_of_a_later_version_is_left_out_with_a_warning(tmp_path: Path) -> None:
    trace = writer(tmp_path)
    for event in (Cut(1, "because"), Future(7), Cut(2, "because")):
        trace.emit(event)
    trace.close()
    found = TraceReader(tmp_path).read()
    assert [each.number for each in found] == [1, 2, 3]
    assert found[1].event == Warned("an event Future of another version is left out")


def test_a_damaged_event_of_a_known_kind_is_no_event_of_a_later_version(tmp_path: Path) -> None:
    trace = writer(tmp_path)
    trace.emit(Cut(1, "because"))
    trace.flush()
    trace.emit(Cut("no number", "because"))  # type: ignore[arg-type]
    trace.close()
    with pytest.raises(TraceDamaged, match="unreadable record"):
        TraceReader(tmp_path).read()
