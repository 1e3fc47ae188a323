"""A jump of the leader's wall clock does not move the stamps of records, in any family."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Mkdir
from nodes.mutations import Mutations
from nodes.sim.clock import EPOCH_NS
from nodes.trace.events import Called
from tests.simulation.baselines.lab import lab_of
from tests.simulation.mams.lab import Lab

FAMILIES = ("mams", "2pc", "qjm", "bookkeeper", "packed-paxos", "symmetric")


def newest_stamp(lab: Lab) -> int:
    stamps = [stamped.event.stamp_ns for stamped in lab.cluster.events if type(stamped.event) is Called]
    return max(stamps) - EPOCH_NS - lab.cluster.now_ns


@pytest.mark.parametrize("on", [False, True])
@pytest.mark.parametrize("protocol", FAMILIES)
def test_stamps_do_not_jump(protocol: str, on: bool) -> None:
    lab = lab_of(protocol, 1, standbys=2, mutations=Mutations(clock_jump_stamps=on))
    lab.ada.call(Mkdir("/a"))
    for name, server in lab.cluster.servers.items():
        if server.group:
            lab.faults.skew_clock(name, 3_600_000)
    lab.run_ms(4_000)
    lab.ada.call(Mkdir("/b"))
    assert (newest_stamp(lab) > 1_000 * SECOND) == on
    assert on or newest_stamp(lab) < SECOND
    lab.finish()
    assert lab.broken() == {}
