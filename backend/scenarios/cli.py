"""`run` and `explore`: exit 0 when everything held, 1 when something did not; a wrong file is an error with its line."""

from __future__ import annotations

import asyncio
import importlib
import re
from collections.abc import Iterator
from multiprocessing import Pool
from pathlib import Path

import msgspec
from rich.console import Console

from backend.errors import Malformed
from backend.scenarios import report as reports
from backend.scenarios.model import Scenario
from backend.scenarios.reading import read
from backend.scenarios.runner import Outcome, run

SEEDS = re.compile(r"^(\d{1,9})\.\.(\d{1,9})$")
SEEDS_MAX = 100_000
console = Console(stderr=True, highlight=False)


def run_command(file: Path, on: str, seed: int | None, report: Path | None, scale: float) -> int:
    """Runs every scenario of a file. Raises LabError."""
    outcomes = []
    for outcome in outcomes_on(on, file, read(file), seed, scale):
        reports.tell(console, outcome)
        outcomes.append(outcome)
    if report is not None:
        reports.write(report, outcomes)
    return 0 if all(outcome.held for outcome in outcomes) else 1


def outcomes_on(
    on: str, file: Path, scenarios: list[Scenario], seed: int | None, scale: float
) -> Iterator[Outcome]:
    if on == "containers":
        yield from importlib.import_module("backend.compose").run_file(file, seed, scale)
        return
    for scenario in scenarios:
        yield asyncio.run(run(scenario, on, scenario.seed if seed is None else seed, scale))


def explore_command(file: Path, seeds: str, jobs: int) -> int:
    """Runs a scenario with many seeds on the simulator; shows the shortest failing schedule. Raises LabError."""
    found = SEEDS.match(seeds)
    if found is None or int(found[1]) > int(found[2]) or int(found[2]) - int(found[1]) >= SEEDS_MAX:
        raise Malformed(f"--seeds {seeds[:40]!r}: write A..B, at most {SEEDS_MAX} seeds")
    numbers = range(int(found[1]), int(found[2]) + 1)
    failed = 0
    for number, scenario in enumerate(read(file)):
        work = [(str(file), number, seed) for seed in numbers]
        failing = sorted(seed for seed, held in outcomes_of(work, jobs) if not held)
        console.print(
            f"[bold]{scenario.name}[/bold]: {len(numbers) - len(failing)} of {len(numbers)} seeds held"
        )
        if failing:
            failed += 1
            show_shortest(file, scenario, failing[0])
    return 1 if failed else 0


def outcomes_of(work: list[tuple[str, int, int]], jobs: int) -> list[tuple[int, bool]]:
    if jobs == 1:
        return [one(item) for item in work]
    with Pool(jobs) as pool:
        return pool.map(one, work, chunksize=max(1, len(work) // (jobs * 8)))


def one(item: tuple[str, int, int]) -> tuple[int, bool]:
    file, number, seed = item
    return seed, asyncio.run(run(read(Path(file))[number], "simulated", seed)).held


def show_shortest(file: Path, scenario: Scenario, seed: int) -> None:
    """The fewest of the scenario's faults that still fail with this seed, and how to see it again."""
    shortest, outcome = shorten(scenario, seed)
    console.print(f"seed {seed} fails with {len(shortest.steps)} of {len(scenario.steps)} steps:")
    for step in shortest.steps:
        begin = f"at {step.at}" if step.at else f"after {step.after}" if step.after else f"when {step.when}"
        console.print(f"  {begin}: {step.fault or 'expect'} {step.target or ''}", markup=False)
    reports.tell(console, outcome)
    print(f"./cloverlab run {file} --seed {seed}")


def shorten(scenario: Scenario, seed: int) -> tuple[Scenario, Outcome]:
    """Leaves out each step that the failure does not need."""
    outcome = asyncio.run(run(scenario, "simulated", seed))
    place = 0
    while place < len(scenario.steps):
        steps = scenario.steps[:place] + scenario.steps[place + 1 :]
        tried = msgspec.structs.replace(scenario, steps=steps)
        shorter = asyncio.run(run(tried, "simulated", seed))
        if shorter.held:
            place += 1
        else:
            scenario, outcome = tried, shorter
    return scenario, outcome
