"""`./cloverlab test` runs every suite that it lists, or fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runner import run


@pytest.mark.parametrize("level", run.LEVELS)
def test_every_suite_that_is_listed_is_there_and_every_one_that_is_there_is_listed(level: str) -> None:
    suites = {
        name: command[-1] for name, command, _, _ in run.runners(level) if command[-1].startswith("tests/")
    }
    for name, folder in suites.items():
        assert folder == f"tests/{name}" and any((run.ROOT / folder).rglob("test_*.py")), folder
    if level != "quick":
        there = {path.parent for path in (run.ROOT / "tests").rglob("test_*.py")}
        assert {path.relative_to(run.ROOT / "tests").parts[0] for path in there} == set(suites)


def test_a_suite_that_is_missing_or_empty_fails(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder in ("missing", "empty"):
        assert not run.passes([*run.PYTEST, folder], tmp_path, 60)
