"""Every button of a mechanism's page does something on its cluster, in the order of the page, and breaks no promise."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from backend.papers.reader import Mechanism, Paper, papers
from backend.scenarios.model import EndPart, ExpectPart, Scenario
from backend.scenarios.runner import run

APART = "8s"
ALL = [(paper, mechanism) for paper in papers() for mechanism in paper.mechanisms]


def pressed(mechanism: Mechanism) -> Scenario:
    """A scenario in which a reader presses each button, one after the other."""
    file = mechanism.file
    steps = [msgspec.structs.replace(step.do, after=APART) for step in file.steps]
    return Scenario(
        name=file.name, teaches=file.about, cluster=file.cluster, workload=file.workload, steps=steps,
        end=EndPart(at=f"{8 * len(steps) + 10}s"), expect=ExpectPart(invariants="all"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("paper", "mechanism"), ALL, ids=[f"{paper.key}/{mechanism.key}" for paper, mechanism in ALL]
)
def test_its_buttons_work_and_no_promise_is_broken(paper: Paper, mechanism: Mechanism) -> None:
    outcome = asyncio.run(run(pressed(mechanism), "simulated", 1))
    refused = [step for step in outcome.steps if step.state != "done"]
    assert refused == []
    assert outcome.held, [verdict for verdict in outcome.verdicts if not verdict.held]
