"""The scenarios of one group, their workload and faults, on every family that must lose nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from backend.compare.worker import on_another
from backend.scenarios.reading import read
from backend.scenarios.runner import run
from benchmarks.seeds import LOSES
from nodes.families import FAMILIES

SCENARIOS = Path(__file__).resolve().parents[3] / "scenarios"
FILES = (
    "faults/crash-the-active.yaml",
    "faults/isolated-active.yaml",
    "faults/pause-longer-than-session.yaml",
    "faults/power-loss-of-all.yaml",
    "faults/coordination-restarts.yaml",
    "faults/flapping-link.yaml",
    "faults/two-crashes-at-once.yaml",
)


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize(
    "protocol", [name for name, family in FAMILIES.items() if family.standbys_max and name not in LOSES]
)
def test_nothing_is_lost(protocol: str, file: str) -> None:
    scenario = on_another(read(SCENARIOS / file)[0], {"protocol": protocol})
    outcome = asyncio.run(run(scenario, "simulated", scenario.seed))
    assert outcome.held, [verdict for verdict in outcome.verdicts if not verdict.held]
    assert {lamp["invariant"]: lamp["explanation"] for lamp in outcome.lamps if lamp["state"] == "red"} == {}
    assert outcome.calls > 500
