"""A takeover counts only the reports of the disks that its members have when it adopts what they reported (safety rule 23)."""

from __future__ import annotations

from nodes.config import SECOND
from nodes.metadata.operations import Mkdir, Stat
from nodes.protocols.paxos.messages import PaxosPrepare
from nodes.sim.ensemble import COORDINATION
from nodes.trace.events import Renewing
from tests.simulation.paxos.test_images import Behind, short_segments  # noqa: F401


def test_a_witness_whose_disk_is_replaced_while_an_image_is_read_is_none() -> None:
    """The elected server has read an image, and its only other witness loses its disk before the slots are redone: a late copy of the question makes
    the empty disk answer in its place."""
    behind = Behind()
    lab, away, other = behind.lab, behind.away, behind.other
    for number in range(5):
        lab.ada.call(Mkdir(f"/last{number}"))
    for name in (behind.primary, other):
        lab.faults.crash(name)
    lab.faults.restart(away)
    lab.cluster.run_until(lambda: lab.cluster.ensemble.observer.holders.get("g1") == away)
    questions = lab.copies(PaxosPrepare, other)
    lab.faults.restart(other)
    lab.cluster.run_until(lambda: any(s.server == away for s in lab.reported(Renewing)), 30 * SECOND)
    lab.faults.delay(away, COORDINATION, ms=500)
    lab.faults.new_disk(other)
    lab.faults.restart(other)
    lab.run_ms(50)
    lab.deliver(questions[-1])
    lab.run_ms(3_000)
    lab.faults.heal_all()
    lab.run_ms(20_000)
    lab.faults.restart(behind.primary)
    lab.begin(lab.eve, Stat("/last4"))
    lab.finish_somehow()
    assert lab.broken() == {}
