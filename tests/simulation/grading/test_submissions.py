"""Implementation labs: the reference passes, and each typical mistake breaks an invariant that its author should learn from."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.grading import skeletons
from backend.grading.supervisor import Graded, grade
from benchmarks.submissions import MISTAKES, SEEN, Mistake, reference, wrong

FEW = range(1, 25)
"""Seeds of the tests; `bench grade` runs 300."""
MANY = range(1, 301)
JOBS = 2


def graded(tmp_path: Path, lab: str, source: str, seeds: range) -> Graded:
    file = tmp_path / "part.py"
    file.write_text(source)
    return grade(lab, file, seeds, JOBS)


def test_there_is_a_reference_and_five_mistakes_for_each_lab() -> None:
    assert set(MISTAKES) == set(skeletons.names())
    assert all(len(mistakes) >= 5 for mistakes in MISTAKES.values())


@pytest.mark.parametrize("lab", MISTAKES)
def test_a_reference_passes(tmp_path: Path, lab: str) -> None:
    found = graded(tmp_path, lab, reference(lab).read_text(), FEW)
    assert found.well, (found.refused, found.failed)
    assert found.passed == len(FEW)


@pytest.mark.parametrize(
    ("lab", "mistake"),
    [
        pytest.param(
            lab, each, id=f"{lab}: {each.name}", marks=pytest.mark.full if each.name != SEEN[lab][0] else ()
        )
        for lab, some in MISTAKES.items()
        for each in some
        if each.name in SEEN[lab]
    ],
)
def test_a_mistake_fails_for_its_reason(tmp_path: Path, lab: str, mistake: Mistake) -> None:
    found = graded(tmp_path, lab, wrong(lab, mistake), MANY)
    assert found.failed is not None, found.refused
    assert found.failed.invariant in mistake.breaks
    assert found.failed.story
    assert found.failed.explanation


@pytest.mark.parametrize("lab", MISTAKES)
def test_a_skeleton_loads_and_says_what_is_missing(tmp_path: Path, lab: str) -> None:
    found = graded(tmp_path, lab, (skeletons.known(lab) / skeletons.PART).read_text(), range(1, 2))
    assert not found.well
    reason = found.refused or (found.failed and found.failed.explanation)
    assert reason and "NotImplementedError" in reason
