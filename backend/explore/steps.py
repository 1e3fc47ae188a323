"""Runs a scenario's own steps under many seeds, and finds the fewest of them that fail."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
from rich.console import Console
from rich.markup import escape

from backend.errors import LabError
from backend.explore import scenario_writer
from backend.explore.executors import Executor, Here, ProcessExecutor, WorkersLost
from backend.explore.result import Result
from backend.explore.search_progress import search_progress
from backend.scenarios import report as reports
from backend.scenarios.model import ExpectPart, Scenario, StepPart
from backend.scenarios.reader import read, targets
from backend.scenarios.runner import ScenarioOutcome, run

console = Console(stderr=True, highlight=False)


class SeedJob(msgspec.Struct, frozen=True):
    """One seed of one scenario of a file."""

    file: str
    number: int
    seed: int


class SeedResult(msgspec.Struct, frozen=True):
    seed: int
    held: bool


class SeedTally(msgspec.Struct):
    """Results of the seeds of one scenario so far."""

    seeds: int = 0
    failing: list[int] = []
    incomplete: str = ""
    """Why the search ended before its end."""
    lost: bool = False
    """True when the search ended because no worker was left."""


def explore_steps(
    file: Path, scenarios: list[Scenario], numbers: range | None, minutes: float | None, jobs: int, out: Path
) -> Result:
    """Runs each scenario of a file with these seeds on the simulator, or with as many as its part of the time allows; writes the shortest
    failing one. Ctrl-C ends the search and keeps its findings. Raises LabError."""
    files, lost = [], False
    for number, scenario in enumerate(scenarios):
        tally = searched(
            SeedJob(str(file), number, 0), numbers, minutes and minutes * 60 / len(scenarios), jobs
        )
        lost |= tally.lost
        held = tally.seeds - len(tally.failing)
        console.print(f"[bold]{escape(scenario.name)}[/bold]: {held} of {tally.seeds} seeds held")
        if tally.failing:
            files.append(shortest_of(scenario, min(tally.failing), out))
        if tally.incomplete:
            console.print(f"[yellow]incomplete[/yellow]: {tally.incomplete}")
            break
    return Result(bool(files or lost), files)


def searched(first: SeedJob, numbers: range | None, seconds: float | None, jobs: int) -> SeedTally:
    """Runs one scenario with many seeds."""
    if numbers is None and seconds is None:
        numbers = range(1, 101)
    tally, began_s = SeedTally(), time.monotonic()
    executor: Executor = Here(work) if jobs == 1 else ProcessExecutor(jobs, work)
    total = seconds if seconds is not None else float(len(numbers or ()))
    seeds: Iterable[int] = itertools.count(1) if numbers is None else numbers

    def took_s() -> float:
        return time.monotonic() - began_s

    def over() -> bool:
        return seconds is not None and took_s() >= seconds

    try:
        with search_progress(console, total) as show:
            for result in results(executor, first, seeds, over):
                tally.seeds += 1
                if not result.held:
                    tally.failing.append(result.seed)
                done = tally.seeds if seconds is None else took_s()
                show(done, f"{tally.seeds} seeds, {len(tally.failing)} failed")
    except KeyboardInterrupt:
        tally.incomplete = "stopped by Ctrl-C"
    except WorkersLost as error:
        tally.incomplete, tally.lost = error.message, True
    finally:
        executor.close()
    return tally


def results(
    executor: Executor, first: SeedJob, seeds: Iterable[int], over: Callable[[], bool]
) -> Iterator[SeedResult]:
    """The results of a scenario's seeds, as they arrive; ends when the time is over, without what is under way."""
    under_way = 0

    def arrived() -> Iterator[SeedResult]:
        nonlocal under_way
        for result in executor.results(0.2):
            under_way -= 1
            yield msgspec.msgpack.decode(result, type=SeedResult)

    for seed in seeds:
        executor.submit(msgspec.msgpack.encode(msgspec.structs.replace(first, seed=seed)))
        under_way += 1
        while under_way >= executor.width and not over():
            yield from arrived()
        if over():
            return
    while under_way and not over():
        yield from arrived()


def work(job_bytes: bytes) -> bytes:
    """Runs one seed in this process."""
    job = msgspec.msgpack.decode(job_bytes, type=SeedJob)
    outcome = asyncio.run(run(read(Path(job.file))[job.number], "simulated", job.seed))
    return msgspec.msgpack.encode(SeedResult(job.seed, outcome.held))


def shortest_of(scenario: Scenario, seed: int, out: Path) -> Path:
    """Writes the fewest steps that still fail with this seed into a file; after Ctrl-C, the fewest so far. Raises Malformed."""
    shortest = scenario
    try:
        for each, outcome in shorter(scenario, seed):
            shortest, last = each, outcome
        left = [(number, step) for number, step in enumerate(shortest.steps, 1) if deed(step)]
        console.print(f"seed {seed} fails with {len(left)} of {len(scenario.steps)} steps:")
        for number, step in left:
            console.print(f"  {number}, {beginning(step)}: {deed(step)}", markup=False)
        reports.report(console, last)
    except KeyboardInterrupt:
        console.print(f"seed {seed} fails; leaving steps out was stopped by Ctrl-C")
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
        ("expect", None if step.expect == ExpectPart() else step.expect),
    ]
    return " ".join(
        f"{name} {value}" if isinstance(value, str) else name for name, value in done if value is not None
    )


def shorter(scenario: Scenario, seed: int) -> Iterator[tuple[Scenario, ScenarioOutcome]]:
    """Ever fewer steps that fail, beginning with all: leaves out each step that the failure does not need."""
    yield scenario, asyncio.run(run(scenario, "simulated", seed))
    for place in range(len(scenario.steps)):
        steps = list(scenario.steps)
        steps[place] = steps[place].left_out()
        tried = msgspec.structs.replace(scenario, steps=steps)
        try:
            outcome = asyncio.run(run(tried, "simulated", seed))
        except LabError:
            continue
        if not outcome.held:
            scenario = tried
            yield scenario, outcome
