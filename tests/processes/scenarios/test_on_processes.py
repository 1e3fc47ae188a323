"""The same files on real processes, every time of theirs so much shorter that a session lasts one second."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from backend.scenarios.reading import read
from backend.scenarios.runner import run

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    "file, scale",
    [
        ("papers/cfs-table3-a.yaml", 0.2),
        ("papers/cfs-table3-b.yaml", 0.2),
        ("papers/cfs-table3-c.yaml", 0.2),
        ("faults/crash-the-active.yaml", 0.2),
        ("faults/pause-longer-than-session.yaml", 0.2),
        ("faults/isolated-active.yaml", 0.2),
        ("faults/two-crashes-at-once.yaml", 0.2),
        ("faults/power-loss-of-all.yaml", 0.2),
        ("faults/add-a-server.yaml", 0.2),
        ("faults/coordination-restarts.yaml", 0.2),
        ("groups/several-actives-at-once.yaml", 0.5),
        ("groups/rename-storm.yaml", 0.5),
        ("groups/one-group-down.yaml", 0.5),
        ("recovery/all-actives-lost.yaml", 0.5),
        ("recovery/time-server-crashes.yaml", 0.5),
        ("recovery/files-go-back.yaml", 0.5),
        ("data/node-dies-in-the-pipeline.yaml", 0.5),
        ("pool/image-rots.yaml", 0.5),
    ],
)
def test_it_holds(file: str, scale: float) -> None:
    scenario = read(ROOT / "scenarios" / file)[0]
    outcome = asyncio.run(run(scenario, "processes", scenario.seed, scale))
    assert outcome.held, [
        f"{verdict.expected}: {verdict.seen}" for verdict in outcome.verdicts if not verdict.held
    ]
    assert outcome.calls > 100
