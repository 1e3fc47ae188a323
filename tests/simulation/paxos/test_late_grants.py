"""A read lease that was granted to a former life of a secondary (safety rule 9)."""

from __future__ import annotations

import msgspec
import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Mkdir, Stat
from nodes.protocols.paxos.messages import LeaseGranted
from nodes.wire.messages import Request
from tests.simulation.paxos.lab import Lab

UP_LONGER_NS = 3_600 * SECOND


@pytest.mark.parametrize("protocol", ["packed-paxos", "multi-paxos"])
def test_a_grant_by_the_clock_of_another_machine_is_none(protocol: str) -> None:
    """A secondary moves to a machine that has been up for an hour less. A late grant to its former life names a time by the former clock."""
    lab = Lab(1, protocol=protocol)
    lab.ada.call(Mkdir("/a"))
    lab.eve.call(Stat("/a"))
    old, moved = lab.primary, lab.secondaries[1]
    grants = lab.copies(LeaseGranted, moved)
    lab.run_ms(500)
    lab.faults.respawn(moved)
    lab.await_letter(moved, "S")
    lab.run_ms(500)
    sender, receiver, grant = grants[0]
    late = msgspec.structs.replace(grant, sent_ns=grant.sent_ns + UP_LONGER_NS)
    lab.deliver((sender, receiver, late))
    lab.run_ms(10)
    for name in (old, lab.secondaries[0]):
        lab.faults.cut(name, moved)
    lab.await_letter(moved, "J")
    lab.ada.call(Mkdir("/b"))
    lab.cluster.hold(
        lambda sender, receiver, message: (
            type(message) is Request and type(message.operation) is Stat and receiver != moved
        )
    )
    lab.begin(lab.eve, Stat("/b"))
    lab.run_ms(2_000)
    lab.finish()
    assert lab.broken() == {}
