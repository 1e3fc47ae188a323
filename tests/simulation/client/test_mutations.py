"""Each seeded bug violates an invariant in its schedule, and the schedule holds without it."""

from __future__ import annotations

import pytest

from nodes.errors import FsError
from nodes.sim.loop import Stuck
from tests.simulation.client.mutations import SCHEDULES, lab_for

FAMILIES = ("mams", "2pc", "qjm", "bookkeeper", "packed-paxos", "symmetric")


@pytest.mark.parametrize("name", SCHEDULES)
def test_with_the_mutation_something_breaks(name: str) -> None:
    lab = lab_for(name, 0)
    try:
        SCHEDULES[name](lab)
        lab.finish()
    except (AssertionError, FsError, Stuck):
        return
    assert lab.broken()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("name", "protocol"),
    [
        ("view_unreachable", "mams"),
        *(("duplicate_after_second_failover", family) for family in ("mams", "qjm", "packed-paxos")),
        *(("sessions_never_end", family) for family in FAMILIES),
        *(("opened_by_fresh_stamps", family) for family in FAMILIES),
        *(("closing_forgotten", family) for family in FAMILIES),
    ],
)
def test_without_it_everything_holds(name: str, seed: int, protocol: str) -> None:
    lab = lab_for(name, seed, protocol, False)
    SCHEDULES[name](lab)
    lab.finish()
    assert lab.broken() == {}
