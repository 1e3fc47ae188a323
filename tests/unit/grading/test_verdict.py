"""A verdict is signed by a join code, and no field of it can be changed without the code."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from backend.cli import entry
from backend.grading.supervisor import Graded
from backend.grading.verdict import GradeVerdict, is_signed, read_verdict, signed, verdict_of
from benchmarks.submissions import reference


def verdict() -> GradeVerdict:
    return verdict_of("election", "Ada", range(1, 301), b"source", Graded(passed=300))


def test_a_changed_verdict_or_another_code_is_seen() -> None:
    made = signed(verdict(), "clover-42")
    assert made.passed
    assert is_signed(made, "clover-42")
    assert not is_signed(made, "clover-43")
    assert not is_signed(verdict(), "clover-42")
    for change in ({"student": "Eve"}, {"passed": False}, {"seeds": "1..3"}, {"sha256": "0" * 64}):
        assert not is_signed(msgspec.structs.replace(made, **change), "clover-42")


def test_the_command_writes_a_skeleton_grades_and_signs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = tmp_path / "mine", tmp_path / "verdict.json"
    assert entry(["grade", "election", "--new", str(folder)]) == 0
    assert entry(["grade", "election", "--new", str(folder)]) == 3
    assert "is there already" in capsys.readouterr().err
    (folder / "part.py").write_text(reference("election").read_text())
    words = [
        "grade",
        "election",
        str(folder),
        "--seeds",
        "1..2",
        "--student",
        "Ada",
        "--code",
        "x",
        "--out",
        str(out),
    ]
    assert entry(words) == 0
    assert is_signed(read_verdict(out), "x")
    assert read_verdict(out).seeds == "1..2"


def test_wrong_words_are_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert entry(["grade", "elections", str(tmp_path)]) == 3
    assert "did you mean election" in capsys.readouterr().err
    assert entry(["grade", "election", str(tmp_path)]) == 2
    assert entry(["grade", "election", str(tmp_path), "--seeds", "5..1"]) == 2
