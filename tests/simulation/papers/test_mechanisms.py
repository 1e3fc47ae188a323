"""Every button of a mechanism's page does something on its cluster, in the order of the page, and breaks no promise."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from backend.papers.reader import Mechanism, papers
from backend.scenarios.model import EndPart, ExpectPart, Scenario
from backend.scenarios.runner import run
from tests.chosen import but_for_slow

APART = "8s"
ALL = {f"{paper.key}/{each.key}": each for paper in papers() for each in paper.mechanisms}
SLOW = (
    "cfs/storage-pool",
    "cfs/renewing",
    "dcfs2/metadata-log",
    "dcfs2/ddg",
    "dcfs2/branch-points",
    "dcfs3/packing",
    "saa/views",
    "vssp/image-partitions",
    "vssp/logical-volume",
    "vssp/repair",
)
"""Long clusters with much data."""


def pressed(mechanism: Mechanism) -> Scenario:
    """A scenario in which a reader presses each button, one after the other."""
    file = mechanism.file
    steps = [msgspec.structs.replace(step.do, after=APART) for step in file.steps]
    return Scenario(
        name=file.name, teaches=file.about, cluster=file.cluster, workload=file.workload, steps=steps,
        end=EndPart(at=f"{8 * len(steps) + 10}s"), expect=ExpectPart(invariants="all"),
    )  # fmt: skip


@pytest.mark.parametrize("mechanism", but_for_slow(ALL, SLOW))
def test_its_buttons_work_and_no_promise_is_broken(mechanism: str) -> None:
    outcome = asyncio.run(run(pressed(ALL[mechanism]), "simulated", 1))
    refused = [step for step in outcome.steps if step.state != "done"]
    assert refused == []
    assert outcome.held, [verdict for verdict in outcome.verdicts if not verdict.held]
