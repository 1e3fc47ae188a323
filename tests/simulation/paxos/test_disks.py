"""A member with a replaced disk counts once the disk is on record (safety rule 23)."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Mkdir
from nodes.mutations import Mutations
from nodes.trace.events import RoleChanged
from tests.simulation.paxos.lab import Lab


@pytest.mark.parametrize("protocol", ["packed-paxos", "multi-paxos"])
@pytest.mark.parametrize("late_ms", [250, 300])
@pytest.mark.parametrize("waits", [True, False])
def test_a_secondary_with_a_replaced_disk_can_follow_the_primary(
    protocol: str, late_ms: int, waits: bool
) -> None:
    """It lost its disk and was back before the view went on without it."""
    lab = Lab(1, protocol=protocol, mutations=Mutations(secondary_without_record=not waits))
    for number in range(20):
        lab.ada.call(Mkdir(f"/d{number}"))
    replaced = lab.secondaries[0]
    before = len(lab.cluster.events)
    lab.faults.do("hold", [lab.primary, replaced], {"direction": "to", "kind": "", "lost": False})
    lab.faults.new_disk(replaced)
    lab.faults.restart(replaced)
    lab.run_ms(late_ms)
    lab.faults.heal_all()
    lab.cluster.run_until(lambda: joined(lab, replaced, before), 30 * SECOND)
    lab.faults.crash(lab.primary)
    written = lab.ada.spawn(Mkdir("/after"))
    lab.cluster.run_for(60 * SECOND)
    assert (written.done() and written.exception() is None) is waits


def joined(lab: Lab, server: str, since: int) -> bool:
    """Whether the server has become a secondary since this event."""
    roles = [
        s.event.role
        for s in lab.cluster.events[since:]
        if s.server == server and type(s.event) is RoleChanged
    ]
    return roles[-1:] == ["secondary"]
