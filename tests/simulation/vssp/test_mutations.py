"""Each seeded bug of images: switched on, an invariant is violated; off, the same schedule holds."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.mutations import Mutations
from nodes.storage import journal_file
from tests.simulation.mams.lab import Lab
from tests.simulation.vssp.mutations import EVERY, SCHEDULES

SEEDS = 3


@pytest.fixture(autouse=True)
def short_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments of a few groups, so that pruning has something to remove."""
    monkeypatch.setattr(journal_file, "SEGMENT_BYTES", 500)


def lab_of(seed: int, standbys: int, **settings: Any) -> Lab:
    return Lab(seed, standbys=standbys, image_every=EVERY, image_partitions=4, **settings)


@pytest.mark.parametrize("mutation", SCHEDULES)
@pytest.mark.parametrize("seed", range(SEEDS))
def test_switched_on_a_check_turns_red(mutation: str, seed: int) -> None:
    schedule, standbys, checks = SCHEDULES[mutation]
    lab = lab_of(seed, standbys, mutations=Mutations(**{mutation: True}))
    broken = schedule(lab)
    lab.finish_somehow()
    assert checks & {*lab.broken(), *broken}


@pytest.mark.parametrize("mutation", SCHEDULES)
@pytest.mark.parametrize("seed", range(SEEDS))
def test_switched_off_it_harms_nobody(mutation: str, seed: int) -> None:
    schedule, standbys, _ = SCHEDULES[mutation]
    lab = lab_of(seed, standbys)
    assert schedule(lab) == set()
    lab.finish()
    assert lab.broken() == {}
