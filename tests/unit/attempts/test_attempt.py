"""The rules of an attempt: predictions come first and stay, hints come one at a time, nothing of the verdict shows before the end."""

from __future__ import annotations

import pytest

from backend.attempts.attempt import RUN_NS, Attempt
from backend.errors import Impossible, Malformed, NotThere
from backend.labs.model import Answer
from backend.labs.reader import lab_of
from backend.scenarios.runner import cluster_config
from nodes.config import SECOND
from nodes.trace.events import FaultInjected, Stamped

LAB = lab_of("what-is-a-standby", "ada")
RIGHT: dict[str, Answer] = {"how-long": 5, "standbys-left": 2, "failed-calls": 0}


def attempt() -> Attempt:
    return Attempt("lab-1", LAB, "ada", cluster_config(LAB.file.cluster, 1.0))


def crash(at_ns: int) -> Stamped:
    return Stamped("faults", 1, 1, at_ns, 0, FaultInjected(1, "crash", ["mds1"], {}))


def test_all_questions_are_answered_before_the_run_and_once() -> None:
    made = attempt()
    with pytest.raises(Malformed, match="answer first: standbys-left, failed-calls"):
        made.answer({"how-long": 5})
    with pytest.raises(Malformed, match="answer with a number"):
        made.answer({**RIGHT, "how-long": "soon"})
    with pytest.raises(Malformed, match="answer with a number"):
        made.answer({**RIGHT, "how-long": 10**400})
    with pytest.raises(NotThere, match="no step"):
        made.answer({**RIGHT, "why": 5})
    with pytest.raises(Malformed, match="no question"):
        made.answer({**RIGHT, "crash": "yes"})
    assert {step.state for step in made.steps(0)} == {"open"}
    made.answer(RIGHT)
    made.begin(SECOND)
    with pytest.raises(Impossible, match="before the run"):
        made.answer(RIGHT)


def test_a_fault_before_the_predictions_ends_the_chance_to_predict() -> None:
    made = attempt()
    made.on_events([crash(SECOND)])
    with pytest.raises(Impossible, match="before the run"):
        made.answer(RIGHT)


def test_hints_come_one_at_a_time() -> None:
    made = attempt()
    first = made.steps(0)[0]
    assert (first.hints, first.hints_left) == ([], 2)
    made.hint("how-long")
    assert len(made.steps(0)[0].hints) == 1
    made.hint("how-long")
    with pytest.raises(Impossible, match="no hint is left"):
        made.hint("how-long")
    with pytest.raises(NotThere):
        made.hint("nothing")


def test_a_prediction_keeps_its_verdict_for_the_end() -> None:
    made = attempt()
    with pytest.raises(Impossible, match="has not begun"):
        made.check_begun()
    made.answer(RIGHT)
    made.begin(SECOND)
    made.on_events([crash(2 * SECOND)])
    assert [(step.state, step.seen, step.why) for step in made.steps(0)[:3]] == [("answered", "", "")] * 3
    made.finish(3 * SECOND)
    assert made.steps(0)[0].state == "failed"
    assert made.steps(0)[0].seen == "no fault of the active happened"


def test_a_run_is_over_after_its_longest_time() -> None:
    made = attempt()
    made.answer(RIGHT)
    made.begin(SECOND)
    made.on_events([crash(made.ends_ns + 1)])
    assert made.phase == "over" and made.ends_ns == SECOND + RUN_NS
    assert made.grade is not None
    assert made.steps(0)[3].state == "failed"
