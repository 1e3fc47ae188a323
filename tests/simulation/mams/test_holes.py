"""Each hole of the papers: open, an invariant is violated; closed, the same schedule holds."""

from __future__ import annotations

import pytest

from nodes.config import Holes
from nodes.sim.loop import Stuck
from tests.simulation.dcfs2.schedules import SCHEDULES as BETWEEN_GROUPS
from tests.simulation.mams.lab import Lab
from tests.simulation.mams.schedules import SCHEDULES
from tests.simulation.paxos.schedules import SCHEDULES as OF_PAXOS
from tests.simulation.recovery.schedules import SCHEDULES as OF_CHECKPOINTS
from tests.simulation.symmetric.schedules import SCHEDULES as OF_SYMMETRIC

SEEDS = 30
WORDS = {
    "election_ignores_sn": "group",
    "sn_without_epoch": "differ after group",
    "late_watch": "group",
    "configuration_is_liveness": "group",
    "silent_shrink": "group",
    "junior_election_eager": "group",
    "short_duplicate_memory": "has two effects",
    "reads_before_flush": "has 0 records",
    "no_fencing": "had been answered before it was invoked",
    "stale_view_write": "in epoch 2, which is",
    "async_flush": "group",
    "checksum_vote": "group",
}
"""Text in the explanation of the violated invariant."""


def test_every_hole_has_its_schedule() -> None:
    of_groups = {hole for _, hole, _ in BETWEEN_GROUPS.values()}
    of_families = {*OF_PAXOS, *OF_SYMMETRIC}
    assert {*SCHEDULES, *OF_CHECKPOINTS, *of_groups, *of_families} == set(Holes.__struct_fields__)


@pytest.mark.parametrize("hole", SCHEDULES)
def test_an_open_hole_is_found_by_a_seed_search(hole: str) -> None:
    schedule, standbys, invariants = SCHEDULES[hole]
    for seed in range(SEEDS):
        lab = Lab(seed, hole, standbys=standbys)
        try:
            schedule(lab)
        except Stuck:
            continue
        lab.finish_somehow()
        if invariants & set(lab.broken()):
            assert any(WORDS[hole] in line for line in lab.broken().values()), lab.broken()
            return
    pytest.fail(f"no seed of {SEEDS} shows {hole}")


@pytest.mark.parametrize("hole", SCHEDULES)
@pytest.mark.parametrize("seed", range(3))
def test_closed_it_harms_nobody(hole: str, seed: int) -> None:
    schedule, standbys, _ = SCHEDULES[hole]
    lab = Lab(seed, standbys=standbys)
    schedule(lab)
    lab.finish()
    assert {status["state"] for status in lab.invariants.invariants()} == {"green"}
    assert all(task.exception() is None or "ENOENT" in str(task.exception()) for task in lab.tasks)
