"""A lab run on the simulator: the lab's cluster, the student's actions, the grade."""

from __future__ import annotations

import random

import msgspec

from backend.errors import Malformed
from backend.labs.grades import LabGrade, StepGrade, graded
from backend.labs.history import RunHistory
from backend.labs.model import ScriptPart
from backend.labs.reader import StudentLab, scenario_of
from backend.scenarios.runner import ScenarioRun
from nodes.trace import story
from nodes.trace.events import Stamped

STORY_LINES = 60


class LabRun(msgspec.Struct, frozen=True):
    """What one run of a lab left behind."""

    history: RunHistory
    events: list[Stamped]
    began_ns: int
    unmet: list[str]
    """Why the run could not be carried out to its end; empty when it could."""


async def play(lab: StudentLab, script: ScriptPart) -> LabRun:
    """Runs the lab from the beginning. One student gets the same run each time, two students get two. Raises LabError."""
    events: list[Stamped] = []
    run = ScenarioRun(scenario_of(lab.file, script), "simulated", seed_of(lab.key, script.student))
    run.fabric.on_event.subscribe(events.append)
    try:
        outcome = await run.run()
    except KeyError as error:
        raise Malformed(f"an action refers to {error}, which is not there") from None
    unmet = [f"{each.expected}: {each.seen}" for each in outcome.verdicts if not each.held]
    history = RunHistory.of(run.config, ["client1"], outcome.started_ns, outcome.ended_ns, events)
    return LabRun(history, events, outcome.started_ns, unmet)


def grade_of(lab: StudentLab, script: ScriptPart, run: LabRun) -> LabGrade:
    """Raises Malformed for an answer to no question."""
    steps = graded(lab, script.answers, run.history)
    steps += [StepGrade("run", False, reason) for reason in run.unmet]
    lost = story_of_loss(run.history, run.events, run.began_ns)
    return LabGrade(lab.key, script.student, lab.numbers, steps, lost)


async def run_lab(lab: StudentLab, script: ScriptPart) -> LabGrade:
    """Raises LabError."""
    return grade_of(lab, script, await play(lab, script))


def seed_of(lab: str, student: str) -> int:
    return random.Random(f"{lab}/seed/{student.strip().lower()}").randrange(1, 1 << 31)


def story_of_loss(history: RunHistory, events: list[Stamped], began_ns: int) -> list[str]:
    """The story that led to the first violated invariant, or nothing."""
    failure = next(iter(history.invariants.failures), None)
    if failure is None:
        return []
    lines = story.failure(events, failure.evidence, began_ns)
    return [f"{failure.invariant}: {failure.explanation}", *lines][:STORY_LINES]
