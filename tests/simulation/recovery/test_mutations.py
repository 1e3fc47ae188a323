"""Each seeded bug of checkpoints: switched on, an invariant is violated; off, the same schedule holds."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.mutations import Mutations
from nodes.storage import journal_file
from tests.simulation.recovery.lab import Checkpoints
from tests.simulation.recovery.mutations import SCHEDULES

SEEDS = 3


@pytest.fixture(autouse=True)
def short_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments of a few groups, so that pruning has something to remove."""
    monkeypatch.setattr(journal_file, "SEGMENT_BYTES", 500)


def lab_of(seed: int, **settings: Any) -> Checkpoints:
    return Checkpoints(seed, 1, 2, image_every=20, image_gap=30, image_partitions=4, **settings)


@pytest.mark.parametrize("mutation", SCHEDULES)
@pytest.mark.parametrize("seed", range(SEEDS))
def test_switched_on_a_check_turns_red(mutation: str, seed: int) -> None:
    schedule, checks = SCHEDULES[mutation]
    lab = lab_of(seed, mutations=Mutations(**{mutation: True}))
    broken = schedule(lab)
    lab.invariants.finish()
    assert checks & {*broken, *(each.invariant for each in lab.invariants.failures)}


@pytest.mark.parametrize("mutation", SCHEDULES)
@pytest.mark.parametrize("seed", range(SEEDS))
def test_switched_off_it_harms_nobody(mutation: str, seed: int) -> None:
    schedule, _ = SCHEDULES[mutation]
    lab = lab_of(seed)
    assert schedule(lab) == set()
    lab.finish()
    assert lab.invariants.failures == []
