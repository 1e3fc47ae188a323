"""Progress of a student: predictions before actions, hints one at a time, a file in the user's data directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.cli import entry
from backend.errors import Impossible, Malformed
from backend.labs import progress as store
from backend.labs.reader import lab_of
from backend.scenarios.model import StepPart

LAB = "the-stream-that-nobody-acknowledges"
CUT = StepPart(at="5s", fault="cut", target=["active of g1", "standby 1 of g1"])


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path


def test_a_prediction_comes_before_the_first_action() -> None:
    lab, saved = lab_of(LAB, "ada"), store.LabProgress(LAB, "ada")
    with pytest.raises(Impossible, match="answer first: waits, lost-predicted"):
        store.with_action(saved, lab, CUT)
    saved = store.with_answer(saved, lab, "waits", 0.0)
    with pytest.raises(Malformed, match="answer with one of yes, no"):
        store.with_answer(saved, lab, "lost-predicted", "maybe")
    saved = store.with_action(store.with_answer(saved, lab, "lost-predicted", "yes"), lab, CUT)
    with pytest.raises(Impossible, match="before the first action"):
        store.with_answer(saved, lab, "waits", 1.0)
    assert store.without_last_action(saved).actions == []


def test_hints_come_one_at_a_time() -> None:
    lab, saved = lab_of(LAB, "ada"), store.LabProgress(LAB, "ada")
    seen = []
    for _ in range(20):
        saved, step, text = store.next_hint(saved, lab)
        if not text:
            break
        seen.append((step, text))
    assert seen == [(step.id, hint) for step in lab.file.steps for hint in step.hints]


def test_progress_is_kept_by_student_and_a_damaged_file_is_named(home: Path) -> None:
    store.save(store.LabProgress(LAB, "Ada L./..", {"waits": 0.0}, [CUT]))
    assert store.begun(LAB, "ada l./..").actions == [CUT]
    files = list(home.rglob("*.json"))
    assert len(files) == 1
    assert files[0].is_relative_to(home / "cloverlab" / "labs")
    files[0].write_text("{")
    with pytest.raises(Malformed, match="damaged"):
        store.begun(LAB, "ada l./..")
    with pytest.raises(Impossible, match="has not started"):
        store.begun(LAB, "eve")


def test_the_commands_of_a_whole_lab(capsys: pytest.CaptureFixture[str]) -> None:
    mine = ["--student", "ada"]
    assert entry(["lab", "start", LAB, *mine]) == 0
    assert "The stream that nobody acknowledges" in capsys.readouterr().out
    assert entry(["lab", "do", LAB, "crash", "active of g1", *mine]) == 3
    assert entry(["lab", "answer", LAB, "waits", "0", *mine]) == 0
    assert entry(["lab", "answer", LAB, "lost-predicted", "yes", *mine]) == 0
    assert entry(["lab", "do", LAB, "crush", "mds1", *mine]) == 2
    cut = ["cut", "active of g1", "standby 1 of g1", "--at", "5s", "--for", "2s"]
    assert entry(["lab", "do", LAB, *cut, *mine]) == 0
    assert entry(["lab", "check", LAB, *mine]) == 1
    assert "Open: lost-predicted" in capsys.readouterr().out
    assert entry(["lab", "do", LAB, "crash", "active of g1", "--after", "1s", *mine]) == 0
    assert entry(["lab", "check", LAB, *mine]) == 0
    assert "All steps are passed" in capsys.readouterr().out
    assert entry(["lab", "status", LAB, *mine]) == 0
    assert "done" in capsys.readouterr().out
