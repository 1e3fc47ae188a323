"""A member whose disk is not on record comes while a takeover that needs it is between its first view and service."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Mkdir
from nodes.sim.ensemble import COORDINATION
from nodes.trace.events import StepTaken
from tests.simulation.paxos.test_first_record import EarlyLab


def await_step(lab: EarlyLab, step: str, since: int) -> str:
    """Waits until a server has taken this step after so many events; returns its name."""

    def taken() -> bool:
        return any(type(e.event) is StepTaken and e.event.step == step for e in lab.cluster.events[since:])

    lab.cluster.run_until(taken, 30 * SECOND)
    return [
        e.server for e in lab.cluster.events[since:] if type(e.event) is StepTaken and e.event.step == step
    ][-1]


@pytest.mark.parametrize("protocol", ["packed-paxos", "multi-paxos"])
@pytest.mark.parametrize("delay", [100, 150])
def test_a_member_is_lost_while_the_first_places_are_written(protocol: str, delay: int) -> None:
    """Two of three disks are on record. In the next takeover one of them is lost after step 3, and the third member comes."""
    lab = EarlyLab(1, "mds3", protocol=protocol)
    lab.ada.call(Mkdir("/before"))
    first = lab.primary
    since = len(lab.cluster.events)
    lab.faults.respawn(first)
    elected = await_step(lab, "2", since)
    lost = next(name for name in ("mds1", "mds2") if name != elected)
    lab.faults.delay(elected, COORDINATION, ms=delay)
    lab.faults.restart("mds3")
    await_step(lab, "3", since)
    lab.faults.gone(lost)
    lab.run_ms(5_000)
    lab.faults.heal_all()
    lab.serves_again(lab.ada, 55 * SECOND)
