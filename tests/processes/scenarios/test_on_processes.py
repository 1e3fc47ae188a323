"""The same files on real processes, every time of theirs a fifth as long (a session of one second)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from backend.scenarios.reading import read
from backend.scenarios.runner import run

ROOT = Path(__file__).resolve().parents[3]
SCALE = 0.2


@pytest.mark.parametrize(
    "file",
    [
        "papers/cfs-table3-a.yaml",
        "papers/cfs-table3-b.yaml",
        "papers/cfs-table3-c.yaml",
        "faults/crash-the-active.yaml",
        "faults/pause-longer-than-session.yaml",
        "faults/isolated-active.yaml",
        "faults/two-crashes-at-once.yaml",
        "faults/power-loss-of-all.yaml",
        "faults/add-a-server.yaml",
        "faults/coordination-restarts.yaml",
    ],
)
def test_it_holds(file: str) -> None:
    scenario = read(ROOT / "scenarios" / file)[0]
    outcome = asyncio.run(run(scenario, "processes", scenario.seed, SCALE))
    assert outcome.held, [
        f"{verdict.expected}: {verdict.seen}" for verdict in outcome.verdicts if not verdict.held
    ]
    assert outcome.calls > 100
