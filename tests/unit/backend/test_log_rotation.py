"""Logs of processes that run for long are bounded, while the processes go on writing."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend import log_rotation


def test_a_long_log_moves_aside_and_its_writer_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_rotation, "LONGEST_BYTES", 20)
    short, long = tmp_path / "mds1.err", tmp_path / "mds2.err"
    short.write_bytes(b"one line\n")
    with long.open("ab", buffering=0) as writer:
        for content in (b"a" * 30, b"b" * 40):
            writer.write(content)
            log_rotation.rotate(tmp_path)
            assert (long.stat().st_size, (tmp_path / "mds2.err.1").read_bytes()) == (0, content)
        writer.write(b"next\n")
    assert long.read_bytes() == b"next\n" and short.read_bytes() == b"one line\n"
    assert not (tmp_path / "mds1.err.1").exists()


def test_a_log_that_cannot_be_copied_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_rotation, "LONGEST_BYTES", 3)
    (tmp_path / "mds1.err").write_bytes(b"words\n")
    (tmp_path / "mds1.err.1").mkdir()
    log_rotation.rotate(tmp_path)
    assert (tmp_path / "mds1.err").read_bytes() == b"words\n"
