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

from backend.errors import LabError, Malformed
from backend.fabrics.verbs import verb_named
from backend.scenarios import report as reports
from backend.scenarios.model import Scenario, StepPart
from backend.scenarios.on_family import on_family, refusal
from backend.scenarios.reading import read, targets
from backend.scenarios.runner import Outcome, run

SEEDS = re.compile(r"^(\d{1,9})\.\.(\d{1,9})$")
SEEDS_MAX = 100_000
console = Console(stderr=True, highlight=False)


def run_command(
    file: Path, on: str, seed: int | None, report: Path | None, scale: float, protocol: str | None = None
) -> int:
    """Runs every scenario of a file, if need be on another family than its own. Raises LabError."""
    scenarios = read(file)
    if protocol is not None:
        scenarios = playable(scenarios, protocol)
    if on != "simulated":
        refuse_what_only_the_simulator_does(scenarios)
    outcomes = []
    for outcome in outcomes_on(on, file, scenarios, seed, scale):
        reports.tell(console, outcome)
        outcomes.append(outcome)
    if report is not None:
        reports.write(report, outcomes)
    return 0 if all(outcome.held for outcome in outcomes) else 1


def refuse_what_only_the_simulator_does(scenarios: list[Scenario]) -> None:
    """Before anything is started. Raises FaultUnsupported."""
    for step in scenarios[0].steps:
        if step.fault is not None:
            verb_named(step.fault)


def playable(scenarios: list[Scenario], protocol: str) -> list[Scenario]:
    """Those of a file that make sense on a family. Raises Malformed when none does."""
    those = [scenario for scenario in scenarios if not refusal(scenario, protocol)] or scenarios[:1]
    return [on_family(scenario, protocol) for scenario in those]


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
    """The fewest of the scenario's steps that still fail with this seed, and how to see it again."""
    shortest, outcome = shorten(scenario, seed)
    left = [(number, step) for number, step in enumerate(shortest.steps, 1) if deed(step)]
    console.print(f"seed {seed} fails with {len(left)} of {len(scenario.steps)} steps:")
    for number, step in left:
        console.print(f"  {number}, {beginning(step)}: {deed(step)}", markup=False)
    reports.tell(console, outcome)
    print(f"./cloverlab run {file} --seed {seed}")


def beginning(step: StepPart) -> str:
    told = [(word, getattr(step, word)) for word in ("at", "after", "when")]
    return " ".join(f"{word} {value}" for word, value in told if value is not None) or "at once"


def deed(step: StepPart) -> str:
    """What a step does, in words; empty for one that was left out."""
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


def shorten(scenario: Scenario, seed: int) -> tuple[Scenario, Outcome]:
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
