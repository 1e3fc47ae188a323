"""A leader whose own disk hangs: its heartbeats go on, and yet it can commit nothing. It gives the lock to a server that can."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Mkdir
from nodes.trace.events import Serving, StoppedServing
from tests.simulation.baselines.lab import lab_of

HANGS_MS = 3_600_000
FAMILIES = ("mams", "2pc", "multi-paxos", "packed-paxos", "qjm", "hadoop-ha", "bookkeeper", "avatar")


@pytest.mark.parametrize("protocol", FAMILIES)
def test_a_leader_whose_disk_hangs_gives_the_lock_away(protocol: str) -> None:
    lab = lab_of(protocol, 1, standbys=3)
    lab.ada.call(Mkdir("/a"))
    hung = lab.active
    lab.faults.slow_disk(hung, HANGS_MS)
    waits = lab.begin(lab.ada, Mkdir("/b"))
    lab.cluster.run_until(waits.done, 15 * SECOND)
    assert waits.exception() is None and lab.active != hung
    lab.faults.slow_disk(hung, 0)
    lab.faults.crash(hung)
    lab.faults.restart(hung)
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("seed", range(1, 9))
@pytest.mark.parametrize("protocol", FAMILIES)
def test_a_server_whose_disk_hangs_does_not_stay_elected(protocol: str, seed: int) -> None:
    lab = lab_of(protocol, seed, standbys=4)
    lab.ada.call(Mkdir("/a"))
    for hung in lab.standbys[:2]:
        lab.faults.slow_disk(hung, HANGS_MS)
    lab.faults.expire_session(lab.active)
    waits = lab.begin(lab.ada, Mkdir("/b"))
    lab.cluster.run_until(waits.done, 40 * SECOND)
    assert waits.exception() is None


def test_a_leader_without_which_the_others_cannot_serve_stays() -> None:
    """Reads go on, and the write is carried out when the disk works again."""
    lab = lab_of("multi-paxos", 1, standbys=1)
    lab.ada.call(Mkdir("/a"))
    hung = lab.active
    lab.faults.slow_disk(hung, HANGS_MS)
    lab.run_ms(20_000)
    assert not [each for each in lab.cluster.events if isinstance(each.event, StoppedServing)]
    assert len([each for each in lab.cluster.events if isinstance(each.event, Serving)]) == 1
    assert lab.active == hung
