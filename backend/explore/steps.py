"""Runs a scenario's own steps under many seeds, and finds the fewest of them that fail."""

from __future__ import annotations

import asyncio
from multiprocessing import Pool
from pathlib import Path

import msgspec
from rich.console import Console

from backend.errors import LabError
from backend.explore import scenario_writer
from backend.explore.result import Result
from backend.scenarios import report as reports
from backend.scenarios.model import Scenario, StepPart
from backend.scenarios.reader import read, targets
from backend.scenarios.runner import ScenarioOutcome, run

console = Console(stderr=True, highlight=False)


def explore_steps(file: Path, scenarios: list[Scenario], numbers: range, jobs: int, out: Path) -> Result:
    """Runs each scenario of a file with these seeds on the simulator; writes the shortest failing one. Raises LabError."""
    files = []
    for number, scenario in enumerate(scenarios):
        work = [(str(file), number, seed) for seed in numbers]
        failing = sorted(seed for seed, held in outcomes_of(work, jobs) if not held)
        console.print(
            f"[bold]{scenario.name}[/bold]: {len(numbers) - len(failing)} of {len(numbers)} seeds held"
        )
        if failing:
            files.append(shortest_of(scenario, failing[0], out))
    return Result(bool(files), files)


def outcomes_of(work: list[tuple[str, int, int]], jobs: int) -> list[tuple[int, bool]]:
    if jobs == 1:
        return [one(item) for item in work]
    with Pool(jobs) as pool:
        return pool.map(one, work, chunksize=max(1, len(work) // (jobs * 8)))


def one(item: tuple[str, int, int]) -> tuple[int, bool]:
    file, number, seed = item
    return seed, asyncio.run(run(read(Path(file))[number], "simulated", seed)).held


def shortest_of(scenario: Scenario, seed: int, out: Path) -> Path:
    """Writes the fewest steps that still fail with this seed into a file. Raises Malformed."""
    shortest, outcome = shorten(scenario, seed)
    left = [(number, step) for number, step in enumerate(shortest.steps, 1) if deed(step)]
    console.print(f"seed {seed} fails with {len(left)} of {len(scenario.steps)} steps:")
    for number, step in left:
        console.print(f"  {number}, {beginning(step)}: {deed(step)}", markup=False)
    reports.report(console, outcome)
    return scenario_writer.write_scenario(msgspec.structs.replace(shortest, seed=seed), out)


def beginning(step: StepPart) -> str:
    reported = [(word, getattr(step, word)) for word in ("at", "after", "when")]
    return " ".join(f"{word} {value}" for word, value in reported if value is not None) or "at once"


def deed(step: StepPart) -> str:
    """One line for a step's action; empty for a step that was left out."""
    if step.fault is not None:
        return " ".join([step.fault, *targets(step)])
    done = [
        ("mark", step.mark),
        ("recover", step.recover),
        ("workload", step.workload),
        ("expect", step.expect),
    ]
    return " ".join(
        f"{name} {value}" if isinstance(value, str) else name for name, value in done if value is not None
    )


def shorten(scenario: Scenario, seed: int) -> tuple[Scenario, ScenarioOutcome]:
    """Leaves out each step that the failure does not need."""
    outcome = asyncio.run(run(scenario, "simulated", seed))
    for place, step in enumerate(scenario.steps):
        steps = list(scenario.steps)
        steps[place] = step.left_out()
        tried = msgspec.structs.replace(scenario, steps=steps)
        try:
            shorter = asyncio.run(run(tried, "simulated", seed))
        except LabError:
            continue
        if not shorter.held:
            scenario, outcome = tried, shorter
    return scenario, outcome
