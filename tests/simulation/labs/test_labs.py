"""Each lab: a student who does it right passes; a wrong prediction and a fault that was not caused fail at their step. A live attempt ticks the
steps off on the way, and its verdict is that of `lab check`: it is judged on the same runs."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from backend.labs.lab_run import LabRun, grade_of, play
from backend.labs.model import Answer, LabStep, ScriptPart
from backend.labs.reader import StudentLab, lab_of, names, read_script
from tests.chosen import only_full
from tests.simulation.labs.attempting import attempted

SOLUTIONS = Path(__file__).parent / "solutions"
IDLE = ("what-is-a-standby", "why-wait", "two-primary-views", "find-the-lost-write")


def test_there_are_at_least_twelve_over_all_five_papers() -> None:
    labs = [lab_of(name, "ada") for name in names()]
    assert len(labs) >= 12
    assert {reading.paper for each in labs for reading in each.file.read} == {
        "CFS",
        "SAA",
        "VSSP",
        "DCFS2",
        "DCFS3",
    }
    assert len({each.file.number for each in labs}) == len(labs)
    assert [path.stem for path in sorted(SOLUTIONS.glob("*.yaml"))] == names()


def test_at_least_four_lose_a_write() -> None:
    losing = [
        name
        for name in names()
        for step in lab_of(name, "ada").file.steps
        if step.check is not None and step.check.expect is not None and step.check.expect.broken
    ]
    assert len(losing) >= 4


@pytest.mark.parametrize("name", names())
def test_who_does_it_right_passes_and_who_predicts_wrong_fails_there(name: str) -> None:
    script = read_script(SOLUTIONS / f"{name}.yaml")
    lab = lab_of(name, script.student)
    run = asyncio.run(play(lab, script))
    grade = grade_of(lab, script, run)
    assert grade.passed, [step for step in grade.steps if not step.passed]
    loses = any(s.check and s.check.expect and s.check.expect.broken for s in lab.file.steps)
    assert bool(grade.lost) == loses
    for step in lab.file.steps:
        if step.predict is not None:
            assert failed_with(lab, script, run, step.id, other(step, script.answers[step.id])) == [step.id]
    attempt, ticked = attempted(lab, script, run)
    assert attempt.finish(0) == grade
    assert {step.state for step in attempt.steps(0)} == {"passed"}
    checks = [step.id for step in lab.file.steps if step.check is not None]
    assert ticked[0] == []
    assert all(each == checks[: len(each)] for each in ticked)
    assert ticked[-1] == checks


@pytest.mark.parametrize("name", [*IDLE, *only_full(*(name for name in names() if name not in IDLE))])
def test_who_causes_no_fault_fails_at_the_first_check(name: str) -> None:
    script = read_script(SOLUTIONS / f"{name}.yaml")
    lab = lab_of(name, script.student)
    idle = msgspec.structs.replace(script, actions=[])
    run = asyncio.run(play(lab, idle))
    grade = grade_of(lab, idle, run)
    first = next(step.id for step in lab.file.steps if step.check is not None)
    assert first in [step.id for step in grade.steps if not step.passed]
    attempt, ticked = attempted(lab, idle, run)
    assert not any(ticked) and not attempt.finish(0).passed
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


def failed_with(lab: StudentLab, script: ScriptPart, run: LabRun, id: str, answer: Answer) -> list[str]:
    changed = msgspec.structs.replace(script, answers={**script.answers, id: answer})
    return [step.id for step in grade_of(lab, changed, run).steps if not step.passed]


def other(step: LabStep, right: Answer) -> Answer:
    """An answer to the same question that is wrong."""
    assert step.predict is not None
    if step.predict.choices:
        said = "yes" if right is True else "no" if right is False else str(right)
        return next(choice for choice in step.predict.choices if choice != said)
    assert isinstance(right, int | float)
    return right + 2 * step.predict.tolerance + 1


def test_numbers_differ_by_student_and_stay_the_same() -> None:
    sessions = {lab_of("what-is-a-standby", f"student{n}").numbers["session"] for n in range(20)}
    assert len(sessions) > 2
    assert lab_of("what-is-a-standby", "Ada ").numbers == lab_of("what-is-a-standby", "ada").numbers
    assert "{" not in lab_of("what-is-a-standby", "ada").page
