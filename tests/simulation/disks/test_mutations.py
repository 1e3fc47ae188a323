"""Each seeded bug of disks: switched on, an invariant is violated; off, the same schedule holds."""

from __future__ import annotations

import pytest

from nodes.config import JournalConfig
from nodes.families import family_named
from nodes.mutations import Mutations
from tests.simulation.disks.mutations import SCHEDULES, Case
from tests.simulation.mams.lab import Lab

SEEDS = 3
every_case = pytest.mark.parametrize("case", SCHEDULES, ids=lambda case: f"{case.mutation}-{case.protocol}")


def lab_for(case: Case, seed: int, **settings: object) -> Lab:
    names = [f"bookie{number}" for number in range(1, case.nodes + 1)]
    journal = JournalConfig(nodes=names or family_named(case.protocol).journal_names())
    return Lab(
        seed, standbys=case.standbys, protocol=case.protocol, journal=journal, knobs=case.knobs, **settings
    )


@every_case
@pytest.mark.parametrize("seed", range(SEEDS))
def test_switched_on_a_check_turns_red(case: Case, seed: int) -> None:
    lab = lab_for(case, seed, mutations=Mutations(**{case.mutation: True}))
    case.schedule(lab)
    lab.finish_somehow()
    assert case.checks & set(lab.broken()), lab.broken()


@every_case
@pytest.mark.parametrize("seed", range(SEEDS))
def test_switched_off_it_harms_nobody(case: Case, seed: int) -> None:
    lab = lab_for(case, seed)
    case.schedule(lab)
    lab.finish()
    assert lab.broken() == {}
