"""Copies of journals that arrive late."""

from __future__ import annotations

from typing import Any

from nodes.metadata.operations import Mkdir
from nodes.protocols.mams.messages import Prepare
from nodes.trace.events import Cut, Durable
from tests.simulation.mams.lab import Lab


def test_a_receiver_drops_the_groups_that_it_has() -> None:
    """CFS §4.2.2 step 4: a duplicate is known by its number and checksum. A later group stands behind it by then."""
    lab = Lab(1)
    copies: list[tuple[str, str, Any]] = []

    def copied(sender: str, receiver: str, message: Any) -> bool:
        if type(message) is Prepare and message.groups and receiver == lab.standbys[0]:
            copies.append((sender, receiver, message))
        return False

    lab.cluster.hold(copied)
    lab.ada.call(Mkdir("/a"))
    first = copies[0]
    lab.ada.call(Mkdir("/b"))
    before = len(lab.cluster.events)
    lab.cluster.net.carry(first[0], first[1], [first[2]])
    lab.run_ms(1_000)
    after = [stamped.event for stamped in lab.cluster.events[before:] if stamped.server == first[1]]
    assert not [event for event in after if type(event) in (Cut, Durable)]
    lab.ada.call(Mkdir("/c"))
    lab.finish()
    assert lab.broken() == {}
