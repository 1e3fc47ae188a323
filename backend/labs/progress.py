"""A student's progress, one file for each lab in the user's data directory."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import msgspec

from backend.errors import ClusterCannotStart, Impossible, Malformed
from backend.labs.grades import LabGrade, wrong_answer
from backend.labs.model import ACTIONS_MAX, Answer, LabStep, ScriptPart
from backend.labs.reader import StudentLab
from backend.places import default_data
from backend.scenarios.model import StepPart

NAME_MAX = 60
BYTES_MAX = 1 << 20


class LabProgress(msgspec.Struct, frozen=True):
    """Answers, actions and verdicts of one student in one lab."""

    lab: str
    student: str
    answers: dict[str, Answer] = {}
    actions: list[StepPart] = []
    hints: dict[str, int] = {}
    """Number of hints that were shown, by step."""
    runs: int = 0
    passed: list[str] = []
    """Steps that the last run passed."""
    done: bool = False
    """Whether some run has passed every step."""

    @property
    def script(self) -> ScriptPart:
        return ScriptPart(student=self.student, answers=self.answers, actions=self.actions)


def directory() -> Path:
    return default_data() / "labs"


def file_of(lab: str, student: str) -> Path:
    """Raises Malformed for a name that is empty or too long."""
    name = student.strip().lower()
    if not name or len(name) > NAME_MAX:
        raise Malformed(f"the name of a student has 1 to {NAME_MAX} characters")
    return directory() / f"{quote(name, safe='').replace('.', '%2E')}" / f"{lab}.json"


def loaded(lab: str, student: str) -> LabProgress | None:
    """The saved progress; None before `lab start`. Raises Malformed for a damaged file."""
    path = file_of(lab, student)
    try:
        with path.open("rb") as file:
            data = file.read(BYTES_MAX)
        return msgspec.json.decode(data, type=LabProgress)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Malformed(f"{path}: {error.strerror}") from None
    except (msgspec.DecodeError, msgspec.ValidationError):
        raise Malformed(
            f"{path} is damaged: remove it, or begin again with `lab start {lab} --again`"
        ) from None


def begun(lab: str, student: str) -> LabProgress:
    """Raises Impossible before `lab start`."""
    progress = loaded(lab, student)
    if progress is None:
        raise Impossible(f"{student} has not started {lab}: ./cloverlab lab start {lab}")
    return progress


def save(progress: LabProgress) -> None:
    """Replaces the file as a whole. Raises ClusterCannotStart when the directory cannot be written."""
    path = file_of(progress.lab, progress.student)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".new")
        fresh.write_bytes(msgspec.json.encode(progress))
        fresh.replace(path)
    except OSError as error:
        raise ClusterCannotStart(f"cannot write {path}: {error.strerror}") from None


def with_answer(progress: LabProgress, lab: StudentLab, id: str, answer: Answer) -> LabProgress:
    """Raises NotThere, Malformed, and Impossible after the first action: a prediction comes before the fault."""
    asked = lab.step(id).predict
    if asked is None:
        raise Malformed(f"{id} is no question; its check reads what the cluster did")
    if progress.actions:
        raise Impossible(
            f"a prediction comes before the first action: begin again with `lab start {lab.key} --again`"
        )
    problem = wrong_answer(asked, answer)
    if problem:
        raise Malformed(f"{id}: {problem}")
    return msgspec.structs.replace(progress, answers={**progress.answers, id: answer})


def with_action(progress: LabProgress, lab: StudentLab, action: StepPart) -> LabProgress:
    """Raises Impossible while a question is open, and for too many actions."""
    waiting = [s.id for s in lab.file.steps if s.predict is not None and s.id not in progress.answers]
    if waiting:
        raise Impossible(f"answer first: {', '.join(waiting)}")
    if len(progress.actions) >= ACTIONS_MAX:
        raise Impossible(f"a lab has at most {ACTIONS_MAX} actions")
    return msgspec.structs.replace(progress, actions=[*progress.actions, action])


def without_last_action(progress: LabProgress) -> LabProgress:
    """Raises Impossible without an action."""
    if not progress.actions:
        raise Impossible("there is no action to take back")
    return msgspec.structs.replace(progress, actions=progress.actions[:-1])


def with_grade(progress: LabProgress, grade: LabGrade) -> LabProgress:
    return msgspec.structs.replace(
        progress,
        runs=progress.runs + 1,
        passed=[step.id for step in grade.steps if step.passed],
        done=progress.done or grade.passed,
    )


def next_hint(progress: LabProgress, lab: StudentLab) -> tuple[LabProgress, str, str]:
    """The next hint of the first open step that has one left, and the step; empty texts when none is left."""
    for step in lab.file.steps:
        if step.id not in progress.passed:
            shown, text = hint_of(progress, step)
            if text:
                return shown, step.id, text
    return progress, "", ""


def hint_of(progress: LabProgress, step: LabStep) -> tuple[LabProgress, str]:
    """The next hint of a step; an empty text when none is left."""
    shown = progress.hints.get(step.id, 0)
    if shown >= len(step.hints):
        return progress, ""
    return msgspec.structs.replace(progress, hints={**progress.hints, step.id: shown + 1}), step.hints[shown]
