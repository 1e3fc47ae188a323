"""Cross-group storms under random faults: nothing is lost, split or seen half done."""

from __future__ import annotations

import pytest

from nodes.config import WorkloadConfig, many_groups
from nodes.sim.explore import Explorer

MIX: dict[str, float] = {
    "create": 5, "mkdir": 3, "stat": 3, "rename": 2, "link": 2, "move": 2, "delete": 2, "list": 1, "set_permission": 1,
    "rmdir": 1, "move_directory": 1,
}  # fmt: skip


@pytest.mark.parametrize("placement, cross_group", [
    ("random", "s2pc_mp"), ("hash", "s2pc_mp"), ("ddg", "s2pc_mp"), ("random", "two_phase"),
])  # fmt: skip
def test_random_faults_break_nothing(placement: str, cross_group: str) -> None:
    explorer = Explorer(
        many_groups(2, 2, placement=placement, cross_group=cross_group),
        WorkloadConfig(clients=6, rate_per_s=40, mix=MIX, directories=4),
        reader=WorkloadConfig(clients=2, rate_per_s=10, mix=MIX, directories=4, root="/other"),
    )
    for outcome in explorer.seeds(range(8), faults=4):
        assert outcome.clean, outcome
