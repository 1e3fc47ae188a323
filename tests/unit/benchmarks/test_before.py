"""`bench before`: the figures of two versions, and its refusals."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from backend.errors import LabError, Malformed
from benchmarks import before
from benchmarks._spellings import first_of


def test_figures_of_both_are_set_side_by_side() -> None:
    then: list[before.Figures] = [
        {"ops": 10, "old": 3, "name": "x"},
        {"ops": 20, "old": 3},
        {"ops": 10, "old": 3},
    ]
    now: list[before.Figures] = [
        {"ops": 20, "new": 1, "name": "y"},
        {"ops": 20, "new": 1},
        {"ops": 30, "new": 1},
    ]
    assert before.side_by_side(then, now) == {"ops": {"before": 10, "now": 20, "ratio": 2.0}}


def test_the_ratio_of_schedules_has_a_key_of_its_own() -> None:
    rows = before.side_by_side([{"schedules_per_minute": 500}], [{"schedules_per_minute": 850}])
    assert before.with_key(rows)["schedules_ratio"] == 1.7
    assert "schedules_ratio" not in before.with_key(before.side_by_side([{"ops": 1}], [{"ops": 2}]))


def test_names_of_an_earlier_version_are_found_in_their_second_place() -> None:
    assert first_of("Path", "no.such.module", "json", "pathlib") is Path
    with pytest.raises(ImportError, match="Path"):
        first_of("Path", "no.such.module", "json")


def test_nothing_is_divided_by_zero() -> None:
    assert before.side_by_side([{"lost": 0}], [{"lost": 2}]) == {"lost": {"before": 0, "now": 2}}


@pytest.mark.parametrize(
    "arguments",
    [("HEAD", "spirit"), ("HEAD", "before"), ("HEAD", "simulator", "0"), ("HEAD", "simulator", "many")],
)
def test_what_cannot_be_is_refused_in_one_line(arguments: tuple[str, ...]) -> None:
    with pytest.raises(Malformed) as caught:
        before.main(*arguments)
    assert "\n" not in str(caught.value)


def repository(directory: Path, monkeypatch: pytest.MonkeyPatch, earlier: str | None, present: str) -> str:
    """A repository with one benchmark now and at the returned commit."""
    (directory / "benchmarks").mkdir()
    monkeypatch.setattr(before, "ROOT", directory)
    file = directory / "benchmarks" / "toy.py"
    (directory / "rate.py").write_text("RATE = 2")
    if earlier is not None:
        file.write_text(earlier)
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "Then"]):
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=directory, check=True
        )
    file.write_text(present)
    (directory / "rate.py").write_text("RATE = 5")
    return "HEAD"


TOY = "import json\nfrom rate import RATE\ndef main():\n    print(json.dumps({'figures': {'rate': RATE}}))\n"

KEEPING = """import json, os
def main():
    os.mkdir(os.environ['XDG_DATA_HOME'] + '/cloverlab')
    print(json.dumps({'figures': {'kept': os.environ['XDG_DATA_HOME']}}))
"""


@pytest.mark.parametrize("earlier", [None, "raise SystemExit('never run')", TOY])
def test_the_present_benchmark_measures_both(
    earlier: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commit = repository(tmp_path, monkeypatch, earlier, TOY)
    assert before.main(commit, "toy", "2") == 0
    said = capsys.readouterr().out
    assert '"before": 2' in said.replace(".0", "") and '"ratio": 2.5' in said
    assert '"own_file_because": ""' in said
    assert len(before._git("worktree", "list").splitlines()) == 1


def test_a_tree_keeps_its_own_benchmark_where_the_present_one_does_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    present = "from rate import NEW\n" + TOY
    commit = repository(tmp_path, monkeypatch, TOY, present)
    (tmp_path / "rate.py").write_text("RATE = NEW = 5")
    assert before.main(commit, "toy", "1") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["figures"]["rate"]["ratio"] == 2.5
    assert "NEW" in said["config"]["own_file_because"]


def test_a_commit_or_a_benchmark_that_is_not_there_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository(tmp_path, monkeypatch, None, "import nothing_such\n")
    with pytest.raises(Malformed, match="no commit 'no-such-commit'"):
        before.main("no-such-commit", "toy")
    with pytest.raises(LabError, match="nothing_such"):
        before.main("HEAD", "toy")
    assert len(before._git("worktree", "list").splitlines()) == 1


def test_what_a_benchmark_keeps_for_the_page_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "toy.py").write_text(KEEPING)
    kept = Path(before.measure(tmp_path, "toy")["kept"])
    assert not kept.exists() and tmp_path not in kept.parents
