"""A live attempt receives the events of a run piece by piece: it ticks the steps off on the way, and its verdict is that of `lab check`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from backend.attempts.attempt import Attempt
from backend.labs.lab_run import LabRun, grade_of, play
from backend.labs.model import ScriptPart
from backend.labs.reader import StudentLab, lab_of, names, read_script
from backend.scenarios.runner import cluster_config

SOLUTIONS = Path(__file__).parents[1] / "labs" / "solutions"
PIECES = 40
FOUND_AT_THE_END = ("find-the-lost-write",)
"""Labs whose last check needs an invariant that is only judged on the whole run."""


def attempted(lab: StudentLab, script: ScriptPart, run: LabRun) -> tuple[Attempt, list[list[str]]]:
    """The attempt at the end of the run, and the ids of the steps that were ticked off after each piece."""
    attempt = Attempt("lab-1", lab, script.student, cluster_config(lab.file.cluster, 1.0))
    before = [each for each in run.events if each.at_ns <= run.began_ns]
    after = run.events[len(before) :]
    attempt.on_events(before)
    attempt.answer(dict(script.answers))
    attempt.begin(run.began_ns)
    ticked = []
    size = len(after) // PIECES + 1
    for start in range(0, len(after), size):
        piece = after[start : start + size]
        attempt.on_events(piece)
        ticked.append([step.id for step in attempt.steps(piece[-1].at_ns) if step.state == "passed"])
    ticked.append([step.id for step in attempt.steps(run.history.ended_ns) if step.state == "passed"])
    attempt.finish(run.history.ended_ns)
    return attempt, ticked


@pytest.mark.parametrize("name", names())
def test_the_reference_path_passes_and_the_checks_tick_on_the_way(name: str) -> None:
    script = read_script(SOLUTIONS / f"{name}.yaml")
    lab = lab_of(name, script.student)
    run = asyncio.run(play(lab, script))
    attempt, ticked = attempted(lab, script, run)
    grade = attempt.finish(0)
    assert grade.passed, [step for step in grade.steps if not step.passed]
    assert grade == grade_of(lab, script, run)
    assert {step.state for step in attempt.steps(0)} == {"passed"}
    checks = [step.id for step in lab.file.steps if step.check is not None]
    assert ticked[0] == []
    assert all(each == checks[: len(each)] for each in ticked)
    assert ticked[-1] == (checks[:-1] if name in FOUND_AT_THE_END else checks)


@pytest.mark.parametrize("name", names())
def test_a_run_without_a_fault_ticks_nothing_and_fails(name: str) -> None:
    script = msgspec.structs.replace(read_script(SOLUTIONS / f"{name}.yaml"), actions=[])
    lab = lab_of(name, script.student)
    attempt, ticked = attempted(lab, script, asyncio.run(play(lab, script)))
    grade = attempt.finish(0)
    assert not any(ticked)
    assert not grade.passed
    first = next(step.id for step in lab.file.steps if step.check is not None)
    assert next(step for step in attempt.steps(0) if step.id == first).state == "failed"


def test_a_wrong_prediction_fails_alone_and_is_explained_after_the_run() -> None:
    right = read_script(SOLUTIONS / "what-is-a-standby.yaml")
    script = msgspec.structs.replace(right, answers={**right.answers, "standbys-left": 3})
    lab = lab_of("what-is-a-standby", script.student)
    attempt, _ = attempted(lab, script, asyncio.run(play(lab, script)))
    failed = [step for step in attempt.steps(0) if step.state == "failed"]
    assert [step.id for step in failed] == ["standbys-left"]
    assert failed[0].seen == "2 standbys; you said 3"
    assert failed[0].why and failed[0].answer == "3"
