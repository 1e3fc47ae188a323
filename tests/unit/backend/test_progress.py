"""Progress on a terminal: the time so far, and the time that the same took before."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from backend import progress


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path


def line(command: str, about_s: float | None) -> str:
    terminal = Console(width=80)
    with terminal.capture() as captured:
        terminal.print(progress.Elapsed(command, about_s))
    return captured.get().strip()


def test_the_line_has_an_estimate_from_the_second_time_on() -> None:
    assert line("bench x", progress.durations().get("bench x")) == "bench x: 0 s"
    progress.note("bench x", 41.7)
    assert line("bench x", progress.durations().get("bench x")) == "bench x: 0 s of about 42 s"


def test_what_is_short_or_fails_leaves_no_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    with progress.shown("run [x]"):
        pass
    monkeypatch.setattr(progress, "SHORT_S", 0.0)
    with pytest.raises(ValueError), progress.shown("run y"):
        raise ValueError
    assert progress.durations() == {}
    with progress.shown("run y"):
        pass
    assert list(progress.durations()) == ["run y"]


@pytest.mark.parametrize("content", [b"", b"[1]", b'{"a": "b"}', b"\xff"])
def test_a_damaged_file_costs_the_estimates_only(home: Path, content: bytes) -> None:
    progress.note("run a", 3.0)
    progress.durations_file().write_bytes(content)
    assert progress.durations() == {}
    progress.note("run a", 4.0)
    assert progress.durations() == {"run a": 4.0}


def test_the_file_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "KEPT", 3)
    for number in range(6):
        progress.note(f"run {number}", 5.0)
    assert list(progress.durations()) == ["run 3", "run 4", "run 5"]


def test_without_a_home_nothing_is_kept_and_nothing_fails(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "file").write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "file"))
    progress.note("run a", 3.0)
    assert progress.durations() == {}
