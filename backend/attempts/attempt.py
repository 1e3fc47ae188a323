"""One student's attempt at a lab on a live cluster: first the predictions, then the run, then the verdict."""

from __future__ import annotations

from collections import deque
from typing import Literal

import msgspec

from backend.attempts.words import on_page
from backend.errors import Impossible, Malformed
from backend.labs.grades import LabGrade, StepGrade, graded
from backend.labs.history import RunHistory
from backend.labs.lab_run import story_of_loss
from backend.labs.model import Answer, LabStep
from backend.labs.progress import LabProgress, hint_of, with_answer
from backend.labs.reader import StudentLab
from backend.names import CLIENT
from nodes.config import SECOND, ClusterConfig
from nodes.trace.events import Stamped

RUN_NS = 600 * SECOND
"""Longest run of an attempt, in virtual time."""
EVENTS_KEPT = 100_000
"""Number of newest events that the story of a lost write is made from."""

Phase = Literal["predict", "run", "over"]
State = Literal["open", "answered", "passed", "failed"]


class StepState(msgspec.Struct, frozen=True):
    """One step as the student sees it now."""

    id: str
    state: State
    seen: str = ""
    why: str = ""
    """Explanation of a prediction, after the run."""
    answer: str = ""
    hints: list[str] = []
    """The hints that were asked for."""
    hints_left: int = 0


class AttemptRun(msgspec.Struct, frozen=True):
    """What an attempt needs to go on after a new start, beside what its cluster left."""

    cluster: str
    lab: str
    student: str
    began_ns: int
    """Virtual instant at which the workload began."""
    answers: dict[str, Answer] = {}
    hints: dict[str, int] = {}


class Attempt:
    """Receives the events of its cluster, and grades them as `lab check` does."""

    def __init__(self, name: str, lab: StudentLab, student: str, config: ClusterConfig):
        self.name = name
        """Of its cluster."""
        self.lab = lab
        self.progress = LabProgress(lab.key, student)
        self.phase: Phase = "predict"
        self.began_ns = 0
        self.grade: LabGrade | None = None
        """The verdict; None before the end of the run."""
        self._history = RunHistory(config, [CLIENT])
        self._events: deque[Stamped] = deque(maxlen=EVENTS_KEPT)

    @property
    def ends_ns(self) -> int:
        """When the run is over at the latest."""
        return self.began_ns + RUN_NS

    def on_events(self, events: list[Stamped]) -> None:
        if self.phase == "over":
            return
        for stamped in events:
            if self.phase == "run" and stamped.at_ns > self.ends_ns:
                self.finish(self.ends_ns)
                return
            self._history.on_event(stamped)
            self._events.append(stamped)

    def answer(self, answers: dict[str, Answer]) -> None:
        """Takes all predictions. Raises Impossible after the first fault, NotThere and Malformed for what is no answer."""
        if self.phase != "predict" or self._history.noted.faults:
            raise Impossible("a prediction comes before the run: start the lab again")
        asked = [step.id for step in self.lab.file.steps if step.predict is not None]
        missing = [id for id in asked if id not in answers]
        if missing:
            raise Malformed(f"answer first: {', '.join(missing)}")
        progress = self.progress
        for id, value in answers.items():
            progress = with_answer(progress, self.lab, id, value)
        self.progress = progress

    def begin(self, at_ns: int) -> None:
        """The workload begins."""
        self.phase, self.began_ns = "run", at_ns
        self._history.begin(at_ns)

    def check_begun(self) -> None:
        """Raises Impossible before the run."""
        if self.phase == "predict":
            raise Impossible("the run has not begun: answer the questions first")

    def kept_run(self, cluster: str) -> AttemptRun:
        """What has to be kept of a run that goes on; `cluster` has its inputs."""
        progress = self.progress
        return AttemptRun(
            cluster, self.lab.key, progress.student, self.began_ns, progress.answers, progress.hints
        )

    def finish(self, at_ns: int) -> LabGrade:
        """Ends the run and grades it."""
        if self.grade is None:
            self.phase = "over"
            self._history.finish(at_ns)
            progress = self.progress
            steps = graded(self.lab, progress.answers, self._history)
            lost = story_of_loss(self._history, list(self._events), self.began_ns)
            self.grade = LabGrade(self.lab.key, progress.student, self.lab.numbers, steps, lost)
        return self.grade

    def hint(self, id: str) -> None:
        """Shows the next hint of a step. Raises NotThere, Impossible when none is left."""
        self.progress, text = hint_of(self.progress, self.lab.step(id))
        if not text:
            raise Impossible(f"no hint is left for {id}")

    def steps(self, now_ns: int) -> list[StepState]:
        """The steps at this instant. During the run, checks are ticked off in their order, and predictions keep their verdicts for the end."""
        if self.phase == "run":
            self._history.ended_ns = now_ns
        grades = {grade.id: grade for grade in self._grades()}
        ticking = bool(self._history.noted.faults) or not self._asks_for_faults()
        found = []
        for step in self.lab.file.steps:
            grade = grades.get(step.id)
            if step.check is not None and self.phase == "run":
                ticking = ticking and grade is not None and grade.passed
                found.append(self._state_of(step, "passed" if ticking else "open", grade))
            elif grade is None or self.phase != "over":
                found.append(self._state_of(step, "answered" if self._answered(step) else "open", None))
            else:
                found.append(self._state_of(step, "passed" if grade.passed else "failed", grade))
        return found

    def _grades(self) -> list[StepGrade]:
        if self.grade is not None:
            return self.grade.steps
        return graded(self.lab, self.progress.answers, self._history) if self.phase == "run" else []

    def _asks_for_faults(self) -> bool:
        return any(step.check is not None and step.check.fault is not None for step in self.lab.file.steps)

    def _answered(self, step: LabStep) -> bool:
        return step.id in self.progress.answers

    def _state_of(self, step: LabStep, state: State, grade: StepGrade | None) -> StepState:
        shown = self.progress.hints.get(step.id, 0)
        given = self.progress.answers.get(step.id)
        return StepState(
            step.id, state, grade.seen if grade else "", grade.why if grade else "",
            "" if given is None else str(given), [on_page(hint) for hint in step.hints[:shown]], len(step.hints) - shown,
        )  # fmt: skip
