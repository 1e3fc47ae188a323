"""Scenarios on other families: workload, faults and expectations. Every family plays some of the files, and all with CLOVERLAB_FAMILIES=all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.scenarios import family_matrix
from backend.scenarios.reader import read
from nodes.families import FAMILIES
from tests.chosen import FAMILIES as WHICH
from tests.chosen import chosen, wants_all

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
    """Every fifth cell of the matrix, along its diagonals, so that each file is played by a fifth of the families too."""
    every = wants_all(WHICH)
    for row, file in enumerate(chosen(FILES, (family_matrix.shown(path) for path in family_matrix.files()))):
        own = read(SCENARIOS / file)[0].cluster.protocol
        refused = family_matrix.refusals(SCENARIOS / file)
        for column, protocol in enumerate(FAMILIES):
            if protocol not in refused and protocol != own and (every or (row + column) % 5 == 0):
                yield file, protocol


@pytest.mark.parametrize(("file", "protocol"), list(plays()))
def test_it_holds(file: str, protocol: str) -> None:
    word, missed = family_matrix.played(SCENARIOS / file, protocol)
    assert missed == "" and word.startswith(family_matrix.HELD)
