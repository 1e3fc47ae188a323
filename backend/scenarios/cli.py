"""`run` and `explore`: exit 0 when everything held, 1 when something did not; a wrong file is an error with its line."""

from __future__ import annotations

import asyncio
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
from rich.console import Console

from backend.errors import Malformed
from backend.fabrics.verbs import verb_named
from backend.scenarios import report as reports
from backend.scenarios.model import Scenario
from backend.scenarios.on_family import on_family, refusal
from backend.scenarios.reading import read
from backend.scenarios.runner import Outcome, run
from nodes.explore import trial

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
    if scenarios[0].trial is not None:
        if on != "simulated":
            raise Malformed(f"{file}: a trial runs on the simulator, not on {on}")
        return run_trial(scenarios[0], seed)
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


def run_trial(scenario: Scenario, seed: int | None) -> int:
    """Runs a trial of the explorer; 0 when everything held."""
    plan = scenario.plan()
    outcome = trial.run(plan if seed is None else msgspec.structs.replace(plan, seed=seed))
    held = "[green]held[/green]" if outcome.clean else "[red]NOT held[/red]"
    console.print(f"[bold]{scenario.name}[/bold], seed {outcome.plan.seed}: {held}")
    for failure in outcome.failures:
        console.print(f"  {failure.invariant}: {failure.explanation}", markup=False)
    if outcome.beyond:
        console.print(f"  only safety was judged: {outcome.beyond}", markup=False)
    console.print(
        f"  {outcome.calls} calls, {outcome.answered} answered, {outcome.checked} facts checked, "
        f"{outcome.virtual_ns / 1e9:.1f} s of virtual time, event log {outcome.log_sha256[:16]}"
    )
    return 0 if outcome.clean else 1
