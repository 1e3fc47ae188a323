"""Scenarios on every other family: workload, faults and expectations. All files with CLOVERLAB_FAMILIES=all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.scenarios import everywhere
from backend.scenarios.reading import read
from nodes.families import FAMILIES
from tests.chosen import chosen

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


def plays() -> Iterator[tuple[str, str]]:
    for file in chosen(FILES, (everywhere.shown(path) for path in everywhere.files())):
        own = read(SCENARIOS / file)[0].cluster.protocol
        refused = everywhere.refusals(SCENARIOS / file)
        yield from ((file, protocol) for protocol in FAMILIES if protocol not in refused and protocol != own)


@pytest.mark.parametrize(("file", "protocol"), list(plays()))
def test_it_holds(file: str, protocol: str) -> None:
    word, missed = everywhere.played(SCENARIOS / file, protocol)
    assert missed == "" and word.startswith(everywhere.HELD)
