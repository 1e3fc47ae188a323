"""Each seeded bug about the members' leases: switched on, a read is stale; off, the same schedule holds (safety rule 26)."""

from __future__ import annotations

import pytest

from nodes.mutations import NO_MUTATIONS
from tests.simulation.leases.members import OF_MEMBERS, SCHEDULES, switched

SEEDS = 3
CHECKS = {"linearisable", "one active"}


CASES = [
    *(("mams", name) for name in SCHEDULES),
    *((protocol, name) for protocol in ("qjm", "hadoop-ha") for name in SCHEDULES if name not in OF_MEMBERS),
]


@pytest.mark.parametrize(("protocol", "name"), CASES)
def test_switched_on_a_read_is_stale(protocol: str, name: str) -> None:
    broken = [set(SCHEDULES[name](seed, switched(name), protocol).broken()) for seed in range(SEEDS)]
    assert any(CHECKS & each for each in broken), f"{name} harms nobody"


@pytest.mark.parametrize(("protocol", "name"), CASES)
def test_switched_off_it_harms_nobody(protocol: str, name: str) -> None:
    for seed in range(SEEDS):
        assert SCHEDULES[name](seed, NO_MUTATIONS, protocol).broken() == {}, seed
