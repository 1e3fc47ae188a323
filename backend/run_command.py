"""`run`: exit 0 when every expectation held, 1 otherwise; an invalid file is an error with its line."""

from __future__ import annotations

import asyncio
import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
from rich.console import Console
from rich.markup import escape

from backend import progress
from backend.errors import Malformed, of_fault
from backend.explore.process_trial import default_scale, run_on_processes
from backend.explore.stepper import Ended, Stepping
from backend.scenarios import report as reports
from backend.scenarios.family_translation import on_family, refusal
from backend.scenarios.model import Scenario
from backend.scenarios.reader import read
from backend.scenarios.runner import ScenarioOutcome, run
from nodes.explore import trial
from nodes.explore.plan import Plan
from nodes.explore.plan import PlanOutcome as TrialOutcome
from nodes.faults.check import FaultUnsupported, resolved, verb_named
from nodes.faults.model import Fabric

SEEDS = re.compile(r"^(\d{1,9})\.\.(\d{1,9})$")
SEEDS_MAX = 100_000
console = Console(stderr=True, highlight=False)


def run_command(
    file: Path,
    on: str,
    seed: int | None,
    report: Path | None,
    scale: float,
    protocol: str | None = None,
    as_json: bool = False,
) -> int:
    """Runs every scenario of a file, optionally on another family than its own; `as_json` prints the results. Raises LabError."""
    scenarios = read(file)
    if protocol is not None:
        scenarios = playable(scenarios, protocol)
    if scenarios[0].trial is not None:
        if on == "containers":
            raise Malformed(f"{file}: a trial runs on the simulator or on processes, not in {on}")
        return run_trial(scenarios[0], seed, on, scale, as_json)
    if on != "simulated":
        refuse_what_only_the_simulator_does(scenarios, on)
    outcomes = []
    for outcome in outcomes_on(on, file, scenarios, seed, scale):
        reports.report(console, outcome)
        outcomes.append(outcome)
    if report is not None:
        reports.write(report, outcomes)
    if as_json:
        print(reports.as_json(outcomes).decode())
    return 0 if all(outcome.held for outcome in outcomes) else 1


def refuse_what_only_the_simulator_does(scenarios: list[Scenario], on: str) -> None:
    """Refuses scenarios of the simulator on another fabric, before a cluster starts. Raises FaultUnsupported."""
    fabric: Fabric = "containers" if on == "containers" else "processes"
    for step in scenarios[0].steps:
        if step.fault is not None:
            try:
                resolved(verb_named(step.fault, fabric), step.options, fabric)
            except FaultUnsupported as error:
                raise of_fault(error) from None


def playable(scenarios: list[Scenario], protocol: str) -> list[Scenario]:
    """Scenarios of a file that make sense on a family. Raises Malformed when none does."""
    those = [scenario for scenario in scenarios if not refusal(scenario, protocol)] or scenarios[:1]
    return [on_family(scenario, protocol) for scenario in those]


def outcomes_on(
    on: str, file: Path, scenarios: list[Scenario], seed: int | None, scale: float
) -> Iterator[ScenarioOutcome]:
    if on == "containers":
        yield from importlib.import_module("backend.compose").run_file(file, seed, scale)
        return
    for scenario in scenarios:
        with progress.shown(f"{scenario.name}, on {on}"):
            outcome = asyncio.run(run(scenario, on, scenario.seed if seed is None else seed, scale))
        yield outcome


def step_command(file: Path, on: str, seed: int | None, until_s: float, step_s: float) -> int:
    """Runs the trial of a file with pauses; 0 when it was ended at a pause or held. Raises LabError."""
    scenario = read(file)[0]
    if scenario.trial is None or on != "simulated":
        raise Malformed(f"--until and --step pause the trial of a file on the simulator: {file} --on {on}")
    try:
        return verdict(scenario, Stepping(plan_of(scenario, seed), until_s, step_s).run())
    except Ended:
        return 0


def plan_of(scenario: Scenario, seed: int | None) -> Plan:
    plan = scenario.plan()
    return plan if seed is None else msgspec.structs.replace(plan, seed=seed)


def run_trial(scenario: Scenario, seed: int | None, on: str, scale: float, as_json: bool = False) -> int:
    """Runs a trial of the explorer; returns 0 when every check held. On processes its times are at least those that this machine can hold."""
    plan = plan_of(scenario, seed)
    with progress.shown(f"{scenario.name}, on {on}"):
        outcome = (
            trial.run(plan) if on == "simulated" else run_on_processes(plan, scale * default_scale(plan))
        )
    if as_json:
        print(trial_as_json(scenario, outcome))
    return verdict(scenario, outcome)


def trial_as_json(scenario: Scenario, outcome: TrialOutcome) -> str:
    counts = {
        name: getattr(outcome, name) for name in ("calls", "answered", "checked", "skipped", "virtual_ns")
    }
    failures = [
        {"invariant": each.invariant, "explanation": each.explanation, "story": each.story}
        for each in outcome.failures
    ]
    head = {"name": scenario.name, "seed": outcome.plan.seed, "held": outcome.clean, "failures": failures}
    return json.dumps(
        {**head, **counts, "beyond": outcome.beyond, "log_sha256": outcome.log_sha256}, indent=1
    )


def verdict(scenario: Scenario, outcome: TrialOutcome) -> int:
    """Prints the outcome of a trial; 0 when every check held."""
    held = "[green]held[/green]" if outcome.clean else "[red]NOT held[/red]"
    console.print(f"[bold]{escape(scenario.name)}[/bold], seed {outcome.plan.seed}: {held}")
    for failure in outcome.failures:
        console.print(f"  {failure.invariant}: {failure.explanation}", markup=False)
        reports.report_story(console, failure.story)
    if outcome.beyond:
        console.print(f"  only safety was judged: {outcome.beyond}", markup=False)
    time = "virtual" if outcome.log_sha256 else "real"
    console.print(
        f"  {outcome.calls} calls, {outcome.answered} answered, {outcome.checked} facts checked, "
        f"{outcome.skipped} faults impossible, {outcome.virtual_ns / 1e9:.1f} s of {time} time"
    )
    if outcome.log_sha256:
        console.print(f"  event log SHA-256 {outcome.log_sha256}", soft_wrap=True)
    return 0 if outcome.clean else 1
