"""A text checked as a scenario: what it does, and where it can run; or one error with its line."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from backend.errors import TooLarge
from backend.scenarios import step_words as words
from backend.scenarios.family_matrix import reason
from backend.scenarios.model import Scenario
from backend.scenarios.reader import Lines, MalformedFile, ScenarioReading, read_data
from nodes.families import FAMILIES
from nodes.faults.check import FaultUnsupported, resolved, verb_named
from nodes.faults.model import Fabric

TEXT_BYTES = 256 * 1024
SIGNS = re.compile(rb"[\[{,:&*!?\n-]")
SIGNS_MAX = 10_000
"""Most signs of a text that may begin a value: the reader needs up to a tenth of a millisecond for each."""
TEXT = Path("scenario")
"""The name of a text that is no file."""
FABRICS: tuple[Fabric, ...] = ("simulated", "processes", "containers")


class PlannedStep(msgspec.Struct):
    number: int
    line: int
    begins: str
    """When: a time since the workload began, a time after the step before, or a condition."""
    does: str


class ScenarioFamily(msgspec.Struct):
    name: str
    refused: str
    """Why the family cannot run the scenario; empty when it can."""


class ScenarioPlan(msgspec.Struct):
    """What a scenario does."""

    name: str
    teaches: str
    paper: str
    protocol: str
    """The family that it was written for."""
    seed: int
    trial: bool
    """A trial of the explorer, which has no steps."""
    variants: list[str]
    """Names of the scenarios that its matrix makes; one without a matrix."""
    steps: list[PlannedStep]
    """Those of the first variant."""
    end: str
    expects: list[str]
    families: list[ScenarioFamily]
    fabrics: list[str]
    notes: list[str]
    """Keys of the release before."""


class WrongLine(msgspec.Struct):
    line: int | None
    """None for an error of the whole text."""
    reason: str


class ScenarioCheck(msgspec.Struct):
    """Either the plan or the first error."""

    plan: ScenarioPlan | None
    error: WrongLine | None


def checked(text: str) -> ScenarioCheck:
    """Raises TooLarge."""
    data = text.encode(errors="replace")
    if len(data) > TEXT_BYTES:
        raise TooLarge(f"a scenario has at most {TEXT_BYTES // 1024} KiB here, this one has more")
    if sum(1 for _ in SIGNS.finditer(data)) > SIGNS_MAX:
        raise TooLarge(f"a scenario has at most {SIGNS_MAX} lines, commas, colons and brackets here")
    return check_of(data, TEXT)


def check_of(data: bytes, path: Path) -> ScenarioCheck:
    try:
        reading = read_data(data, path)
    except MalformedFile as error:
        return ScenarioCheck(None, WrongLine(error.line, error.reason))
    return ScenarioCheck(plan_of(reading), None)


def plan_of(reading: ScenarioReading) -> ScenarioPlan:
    scenarios = reading.scenarios
    first = scenarios[0]
    return ScenarioPlan(
        first.name, first.teaches, first.paper, written_for(first), first.seed, first.trial is not None,
        [each.name for each in scenarios],
        steps_of(first, reading.lines), words.ends(first.end), words.expectations(first.expect),
        [ScenarioFamily(name, refused(scenarios, name)) for name in FAMILIES],
        fabrics(first), reading.notes,
    )  # fmt: skip


def steps_of(scenario: Scenario, lines: Lines) -> list[PlannedStep]:
    return [
        PlannedStep(number, lines.line(["steps", number - 1]), words.begins(step), words.does(step))
        for number, step in enumerate(scenario.steps, 1)
    ]


def refused(scenarios: list[Scenario], protocol: str) -> str:
    """Why a family can run none of them; empty when it can run one."""
    if scenarios[0].trial is not None:
        return "" if protocol == written_for(scenarios[0]) else "a trial runs on its own family"
    reasons = [reason(each, protocol) for each in scenarios]
    return reasons[0] if all(reasons) else ""


def written_for(scenario: Scenario) -> str:
    """The scenario's own family."""
    return scenario.cluster.protocol if scenario.trial is None else scenario.plan().cluster.protocol


def fabrics(scenario: Scenario) -> list[str]:
    """The fabrics that can do every step."""
    if scenario.trial is not None:
        return ["simulated", "processes"]
    return [fabric for fabric in FABRICS if all_possible(scenario, fabric)]


def all_possible(scenario: Scenario, fabric: Fabric) -> bool:
    try:
        for step in scenario.steps:
            if step.fault is not None:
                resolved(verb_named(step.fault, fabric), step.options, fabric)
    except FaultUnsupported:
        return False
    return True
