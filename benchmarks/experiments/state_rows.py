"""`cfs-table3a`, `b`, `c`: the state rows of Table 3, and Fig. 11's curve of calls per second, on the simulator (CFS §5.5.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from backend.compare.measures import Measures
from backend.scenarios.reader import read
from backend.scenarios.runner import ScenarioRun
from benchmarks._model import Chart, Experiment, ExperimentOutcome
from nodes.config import SECOND

SCENARIOS = Path(__file__).parents[2] / "scenarios" / "papers"
BUCKETS_PER_POINT = 4
"""Buckets of half a second in each point of the curve."""


def run_of(letter: str) -> Callable[[bool], ExperimentOutcome]:
    """Runs the test's scenario, whose file has the expected rows."""

    def run(quick: bool) -> ExperimentOutcome:
        scenario = read(SCENARIOS / f"cfs-table3-{letter}.yaml")[0]
        made = ScenarioRun(scenario, "simulated", scenario.seed)
        measures = Measures()
        made.fabric.on_event.subscribe(measures.on_event)
        outcome = asyncio.run(made.run())
        curve = measures.curve(outcome.started_ns, outcome.ended_ns)
        seconds = BUCKETS_PER_POINT * curve.bucket_ns / SECOND
        points = [
            (place * seconds, sum(curve.ok[place * BUCKETS_PER_POINT :][:BUCKETS_PER_POINT]) / seconds)
            for place in range(len(curve.ok) // BUCKETS_PER_POINT)
        ]
        figures = {
            "expectations": float(len(outcome.verdicts)),
            "expectations_held": float(sum(verdict.held for verdict in outcome.verdicts)),
            "failed_calls": float(outcome.failed_calls),
            "longest_outage_s": round(outcome.longest_outage_ms / 1000, 2),
        }
        rows = " / ".join(row.letters for group in outcome.groups for row in group.rows)
        chart = Chart(scenario.name, "seconds", "calls answered per second", {"calls": points})
        config = {"fabric": "simulated", "scenario": f"cfs-table3-{letter}.yaml", "seed": scenario.seed}
        failed = [
            f"not held: {verdict.expected}: {verdict.seen}"
            for verdict in outcome.verdicts
            if not verdict.held
        ]
        return ExperimentOutcome(config, figures, PAPER, chart, [f"rows: {rows}", *failed])

    return run


PAPER = {"longest_outage_s": 10.0}
"""The paper's service returns 8 to 10 s after each error."""

EXPERIMENTS = [
    Experiment(
        f"cfs-table3{letter}", f"CFS §5.5.2, Table 3, Test {letter.upper()}, Fig. 11", what, run_of(letter)
    )
    for letter, what in (
        ("a", "the active's lock is taken away three times"),
        ("b", "wires are pulled"),
        ("c", "processes are killed and restarted"),
    )
]
