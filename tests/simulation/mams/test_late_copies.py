"""Copies of journals that arrive late."""

from __future__ import annotations

from nodes.metadata.operations import Mkdir
from nodes.protocols.mams.messages import Prepare
from nodes.trace.events import Cut, Durable
from tests.simulation.mams.lab import Lab


def test_a_receiver_drops_the_groups_that_it_has() -> None:
    """CFS §4.2.2 step 4: a duplicate is known by its number and checksum. A later group stands behind it by then."""
    lab = Lab(1)
    standby = lab.standbys[0]
    copies = lab.copies(Prepare, standby)
    lab.ada.call(Mkdir("/a"))
    first = next(copy for copy in copies if copy[2].groups)
    lab.ada.call(Mkdir("/b"))
    before = len(lab.cluster.events)
    lab.deliver(first)
    lab.run_ms(1_000)
    after = [stamped.event for stamped in lab.cluster.events[before:] if stamped.server == standby]
    assert not [event for event in after if type(event) in (Cut, Durable)]
    lab.ada.call(Mkdir("/c"))
    lab.finish()
    assert lab.broken() == {}
