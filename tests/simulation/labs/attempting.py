"""A live attempt at a lab, which receives the events of a run piece by piece."""

from __future__ import annotations

from backend.attempts.attempt import Attempt
from backend.labs.lab_run import LabRun
from backend.labs.model import ScriptPart
from backend.labs.reader import StudentLab
from backend.scenarios.runner import cluster_config

PIECES = 40


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
