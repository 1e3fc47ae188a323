"""A member with a replaced disk counts once the disk is on record (safety rule 23)."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Mkdir
from nodes.mutations import Mutations
from nodes.protocols.paxos.messages import PaxosJoin
from nodes.sim.ensemble import COORDINATION
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
    lab.cluster.run_until(lambda: roles(lab, replaced, before)[-1:] == ["secondary"], 30 * SECOND)
    lab.faults.crash(lab.primary)
    written = lab.ada.spawn(Mkdir("/after"))
    lab.cluster.run_for(60 * SECOND)
    assert (written.done() and written.exception() is None) is waits


@pytest.mark.parametrize("protocol", ["packed-paxos", "multi-paxos"])
@pytest.mark.parametrize(("ms", "waits"), [(20, True), (50, True), (20, False)])
def test_a_member_that_reaches_coordination_slowly_counts_again(protocol: str, ms: int, waits: bool) -> None:
    """The primary looks at its place before the member has offered its new disk. As a secondary it never would, and its group of two cannot do
    without it."""
    lab = Lab(1, secondaries=1, protocol=protocol, mutations=Mutations(secondary_without_record=not waits))
    lab.ada.call(Mkdir("/before"))
    (replaced,) = lab.secondaries
    lab.faults.delay(replaced, COORDINATION, ms=ms)
    lab.faults.new_disk(replaced)
    lab.faults.restart(replaced)
    lab.run_ms(2_000)
    lab.faults.heal_all()
    written = lab.ada.spawn(Mkdir("/after"))
    lab.cluster.run_for(60 * SECOND)
    assert (written.done() and written.exception() is None) is waits


@pytest.mark.parametrize("waits", [True, False])
def test_a_late_offer_of_a_former_disk_is_corrected(waits: bool) -> None:
    """It admits a disk that is gone, of which no acknowledgement comes. The member has to offer its own again."""
    lab = Lab(1, secondaries=1, mutations=Mutations(secondary_without_record=not waits))
    lab.ada.call(Mkdir("/before"))
    (replaced,), primary = lab.secondaries, lab.primary
    offers = lab.copies(PaxosJoin, primary)
    lab.faults.respawn(replaced)
    lab.run_ms(2_000)
    lab.faults.new_disk(replaced)
    lab.faults.restart(replaced)
    lab.run_ms(4_000)
    lab.deliver(offers[0])
    lab.run_ms(2_000)
    written = lab.ada.spawn(Mkdir("/after"))
    lab.cluster.run_for(60 * SECOND)
    assert (written.done() and written.exception() is None) is waits


@pytest.mark.parametrize("late_ms", [0, 3, 20])
def test_a_place_that_was_written_for_a_former_life_is_taken_again(late_ms: int) -> None:
    lab = Lab(1, secondaries=1)
    lab.ada.call(Mkdir("/before"))
    (replaced,), primary = lab.secondaries, lab.primary
    held = lab.cluster.hold_write(primary, partial(places, replaced))
    lab.faults.respawn(replaced)
    lab.cluster.run_until(lambda: bool(held.held), 5 * SECOND)
    before = len(lab.cluster.events)
    lab.faults.new_disk(replaced)
    lab.faults.restart(replaced)
    lab.cluster.run_until(lambda: roles(lab, replaced, before) == ["joining"], 5 * SECOND)
    lab.run_ms(late_ms)
    held.release()
    lab.ada.call(Mkdir("/after"))
    lab.finish()
    assert lab.broken() == {}


def places(server: str, changes: list[Any]) -> bool:
    """Whether these changes write the server's place."""
    return any(change.path.endswith(f"/view/{server}") for change in changes)


def roles(lab: Lab, server: str, since: int) -> list[str]:
    """The roles that the server has had since this event."""
    events = [stamped.event for stamped in lab.cluster.events[since:] if stamped.server == server]
    return [event.role for event in events if type(event) is RoleChanged]
