"""The scenario files of the other fabrics, unchanged, with wires really cut; every time a fifth as long (a session of one second)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.compose import run_file
from tests.containers.running import Composed

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
SCALE = 0.2


@pytest.fixture(scope="module")
def hosts(shared: Composed) -> Iterator[Composed]:
    """Without the control plane: a scenario brings its own."""
    shared.mend()
    shared.compose.must("stop", "control")
    yield shared
    shared.compose.must("start", "control")


@pytest.mark.parametrize(
    "file",
    [
        "papers/cfs-table3-a.yaml",
        "papers/cfs-table3-b.yaml",
        "papers/cfs-table3-c.yaml",
        "faults/isolated-active.yaml",
        "faults/power-loss-of-all.yaml",
    ],
)
def test_it_holds(hosts: Composed, file: str) -> None:
    (outcome,) = run_file(SCENARIOS / file, None, SCALE, hosts.compose)
    assert outcome.held, [f"{v.expected}: {v.seen}" for v in outcome.verdicts if not v.held]
    assert outcome.on == "containers" and outcome.calls > 100
