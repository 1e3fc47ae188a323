"""The scenario files of the other fabrics, unchanged, with wires really cut; times are so much shorter that a session is one second."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.compose import run_in
from tests.containers.running import Composed

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"


@pytest.fixture(scope="module")
def hosts(shared: Composed) -> Iterator[Composed]:
    """Without the control plane: a scenario brings its own."""
    shared.mend()
    shared.compose.must("stop", "control")
    yield shared
    shared.compose.must("start", "control")


@pytest.mark.parametrize(
    ("file", "scale"),
    [
        ("papers/cfs-table3-a.yaml", 0.2),
        ("papers/cfs-table3-b.yaml", 0.3),
        ("papers/cfs-table3-c.yaml", 0.3),
        ("faults/isolated-active.yaml", 0.2),
        ("faults/power-loss-of-all.yaml", 0.2),
        ("groups/groups-cut-apart.yaml", 0.5),
        ("groups/power-loss-of-all-groups.yaml", 0.5),
        ("groups/rename-storm.yaml", 0.5),
        ("recovery/a-group-is-down.yaml", 1.0),
        ("data/replica-rots.yaml", 1.0),
        ("pool/packets-damaged.yaml", 0.5),
        ("baselines/qjm-loses-the-active.yaml", 0.5),
    ],
)
def test_it_holds(hosts: Composed, file: str, scale: float) -> None:
    (outcome,) = run_in(hosts.compose, SCENARIOS / file, None, scale)
    assert outcome.held, [f"{v.expected}: {v.seen}" for v in outcome.verdicts if not v.held]
    assert outcome.on == "containers" and outcome.calls > 100
