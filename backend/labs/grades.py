"""The grade of a lab: what the student predicted and caused, compared with what the run then did."""

from __future__ import annotations

import msgspec

from backend.errors import Malformed
from backend.labs.history import RunHistory
from backend.labs.model import Answer, BoundPart, CheckPart, FaultPart, LabStep, PredictionPart
from backend.labs.reader import StudentLab
from backend.labs.values import VALUES, MissingValue

ANSWER_CHARACTERS = 200


class StepGrade(msgspec.Struct, frozen=True):
    """The verdict on one step."""

    id: str
    passed: bool
    seen: str
    """What the run did, in one line."""
    why: str = ""
    """Explanation of a prediction; empty for a check and without a run."""


class LabGrade(msgspec.Struct, frozen=True):
    """The verdicts on all steps, in the lab's order. The lab is passed when all are."""

    lab: str
    student: str
    numbers: dict[str, int]
    steps: list[StepGrade]
    lost: list[str]
    """Lines of the story that led to the first violated invariant; empty when none was."""

    @property
    def passed(self) -> bool:
        return all(step.passed for step in self.steps)

    @property
    def failed_at(self) -> str:
        """Id of the first step that is not passed; empty when all are."""
        return next((step.id for step in self.steps if not step.passed), "")


def graded(lab: StudentLab, answers: dict[str, Answer], history: RunHistory) -> list[StepGrade]:
    """The verdict on each step. Raises Malformed for an answer to no question."""
    asked = {step.id for step in lab.file.steps if step.predict is not None}
    unknown = [id for id in answers if id not in asked]
    if unknown:
        raise Malformed(
            f"{unknown[0][:40]!r} is no question of {lab.key}; there are {', '.join(asked) or 'none'}"
        )
    return [of_step(step, answers, history) for step in lab.file.steps]


def of_step(step: LabStep, answers: dict[str, Answer], history: RunHistory) -> StepGrade:
    try:
        if step.predict is not None:
            return of_prediction(step.id, step.predict, answers.get(step.id), history)
        assert step.check is not None
        return of_check(step.id, step.check, history)
    except MissingValue as absent:
        return StepGrade(step.id, False, str(absent))


def of_prediction(id: str, asked: PredictionPart, answer: Answer | None, history: RunHistory) -> StepGrade:
    """Raises MissingValue when the run has no right answer."""
    if answer is None:
        return StepGrade(id, False, "not answered before the run")
    truth = VALUES[asked.value.name](history, asked.value)
    if asked.choices:
        right = answer_text(answer) == answer_text(truth)
        seen = asked.choices.get(answer_text(truth), answer_text(truth))
        given = asked.choices.get(answer_text(answer), answer_text(answer))
        return StepGrade(id, right, f"{seen}; you said: {given}", asked.why)
    number = as_number(answer)
    assert isinstance(truth, int | float)
    right = number is not None and abs(number - truth) <= asked.tolerance
    unit = f" {asked.unit}" if asked.unit else ""
    about = f", and ± {asked.tolerance:g} is right" if asked.tolerance else ""
    return StepGrade(id, right, f"{truth:.4g}{unit}; you said {answer_text(answer)}{about}", asked.why)


def wrong_answer(asked: PredictionPart, answer: Answer) -> str:
    """Why this cannot be an answer, in one line; empty when it can."""
    if isinstance(answer, str) and len(answer) > ANSWER_CHARACTERS:
        return f"an answer has at most {ANSWER_CHARACTERS} characters"
    if asked.choices:
        return (
            "" if answer_text(answer) in asked.choices else f"answer with one of {', '.join(asked.choices)}"
        )
    return (
        ""
        if as_number(answer) is not None
        else f"answer with a number{f' ({asked.unit})' if asked.unit else ''}"
    )


def answer_text(answer: Answer) -> str:
    """YAML reads yes and no as booleans, and the command line reads every number as a fraction."""
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    if isinstance(answer, float) and answer.is_integer():
        return str(int(answer))
    return str(answer).strip().lower()


def as_number(answer: Answer) -> float | None:
    if isinstance(answer, bool):
        return None
    try:
        return float(answer)
    except (ValueError, OverflowError):
        return None


def of_check(id: str, check: CheckPart, history: RunHistory) -> StepGrade:
    """Raises MissingValue, LabError."""
    if check.fault is not None:
        return of_fault(id, check.fault, history)
    if check.bound is not None:
        return of_bound(id, check.bound, history)
    assert check.expect is not None
    verdicts = history.verdicts(check.expect)
    unmet = [f"{verdict.expected}: {verdict.seen}" for verdict in verdicts if not verdict.held]
    return StepGrade(
        id, not unmet, "; ".join(unmet or [f"{each.expected}: {each.seen}" for each in verdicts[:3]])
    )


def of_fault(id: str, part: FaultPart, history: RunHistory) -> StepGrade:
    verbs = [part.verb] if isinstance(part.verb, str) else part.verb
    faults = [fault for fault in history.noted.faults if fault.verb in verbs]
    hit = {
        name for fault in faults for name, role in fault.roles.items() if not part.role or role == part.role
    }
    came = ", ".join(f"{fault.verb} of {of_targets(fault.roles)}" for fault in faults) or "none came"
    return StepGrade(id, len(hit) >= part.least, came)


def of_targets(roles: dict[str, str]) -> str:
    return " and ".join(f"{name} ({role})" if role else name for name, role in roles.items()) or "all"


def of_bound(id: str, bound: BoundPart, history: RunHistory) -> StepGrade:
    """Raises MissingValue."""
    value = VALUES[bound.value.name](history, bound.value)
    held = bound.equals is None or answer_text(value) == answer_text(bound.equals)
    if isinstance(value, int | float):
        held = held and (bound.least is None or value >= bound.least)
        held = held and (bound.most is None or value <= bound.most)
    return StepGrade(
        id,
        held,
        f"{bound.value.name}: {value:.4g}" if isinstance(value, float) else f"{bound.value.name}: {value}",
    )
