"""Each seeded bug about leases: switched on, a read is stale; off, the same schedule holds."""

from __future__ import annotations

import pytest

from nodes.mutations import NO_MUTATIONS, Mutations
from tests.simulation.leases.mutations import SCHEDULES

EVERYWHERE = [(name, protocol) for name, (_, protocols) in SCHEDULES.items() for protocol in protocols]
CHECKS = {"linearisable", "one active"}


@pytest.mark.parametrize(("name", "protocol"), EVERYWHERE)
def test_switched_on_a_read_is_stale(name: str, protocol: str) -> None:
    schedule, _ = SCHEDULES[name]
    for seed in range(3):
        if CHECKS & set(schedule(seed, protocol, Mutations(**{name.split()[0]: True})).broken()):
            return
    pytest.fail(f"{name} harms nobody")


@pytest.mark.parametrize(("name", "protocol"), EVERYWHERE)
def test_switched_off_it_harms_nobody(name: str, protocol: str) -> None:
    schedule, _ = SCHEDULES[name]
    for seed in range(3 if protocol in ("mams", "packed-paxos") else 1):
        assert schedule(seed, protocol, NO_MUTATIONS).broken() == {}, seed
