"""Each hole of the papers: open, a check fires; closed, the same schedule harms nobody."""

from __future__ import annotations

import pytest

from nodes.config import Holes, WorkloadConfig, one_group
from nodes.sim.explore import Explorer, random_plan, shortest
from nodes.sim.loop import Stuck
from tests.simulation.dcfs2.schedules import SCHEDULES as BETWEEN_GROUPS
from tests.simulation.mams.lab import Lab
from tests.simulation.mams.schedules import SCHEDULES
from tests.simulation.paxos.schedules import SCHEDULES as OF_PAXOS
from tests.simulation.recovery.schedules import SCHEDULES as OF_CHECKPOINTS
from tests.simulation.symmetric.schedules import SCHEDULES as OF_SYMMETRIC

SEEDS = 30
MIX: dict[str, float] = {"create": 5, "mkdir": 1, "stat": 3, "rename": 1, "delete": 1, "list": 3}
LISTS = WorkloadConfig(clients=2, rate_per_s=20, mix={"list": 1})
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
"""What the explanation of a red lamp says."""


def test_every_hole_has_its_schedule() -> None:
    of_groups = {hole for _, hole, _ in BETWEEN_GROUPS.values()}
    of_families = {*OF_PAXOS, *OF_SYMMETRIC}
    assert {*SCHEDULES, *OF_CHECKPOINTS, *of_groups, *of_families} == set(Holes.__struct_fields__)


@pytest.mark.parametrize("hole", SCHEDULES)
def test_an_open_hole_is_found_by_a_seed_search(hole: str) -> None:
    schedule, standbys, lamps = SCHEDULES[hole]
    for seed in range(SEEDS):
        lab = Lab(seed, hole, standbys=standbys)
        try:
            schedule(lab)
        except Stuck:
            continue
        lab.finish_somehow()
        if lamps & set(lab.broken()):
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
    assert {lamp["state"] for lamp in lab.lamps.lamps()} == {"green"}
    assert all(task.exception() is None or "ENOENT" in str(task.exception()) for task in lab.tasks)


@pytest.mark.parametrize(
    ("hole", "standbys", "faults", "reader", "lamps"),
    [
        ("election_ignores_sn", 2, 8, None, {"no lost write"}),
        ("no_fencing", 3, 5, LISTS, {"linearisable", "one active"}),
    ],
)
def test_random_plans_find_the_hole(
    hole: str, standbys: int, faults: int, reader: WorkloadConfig | None, lamps: set[str]
) -> None:
    """Of two standbys one may lack what was acknowledged: a smaller group and more faults show it four times as fast."""
    config = one_group(standbys, holes=Holes(**{hole: True}))
    explorer = Explorer(config, WorkloadConfig(clients=4, rate_per_s=20, mix=MIX), reader=reader)
    for seed in range(400):
        plan = random_plan(seed, config, explorer.span_ns, faults)
        outcome, _ = explorer.run(seed, plan)
        if lamps & {failure.invariant for failure in outcome.failures}:
            short = shortest(explorer, seed, plan)
            print(f"{hole}: seed {seed}: {short}")
            assert 0 < len(short) <= len(plan)
            return
    pytest.fail(f"no random plan shows {hole}")
