"""Views are slots too: a group with few open slots must have room for them when it redoes slots."""

from __future__ import annotations

import pytest

from nodes.config import SECOND, Knobs
from nodes.metadata.operations import Mkdir
from nodes.protocols.paxos.messages import Accepted
from nodes.trace.events import StepTaken
from tests.simulation.paxos.lab import Lab


@pytest.mark.parametrize("protocol", ["packed-paxos", "multi-paxos"])
def test_views_that_were_not_decided_leave_room_for_the_next_ones(protocol: str) -> None:
    """The old primary leaves a write and a view undecided. The next one loses a member for good and then, for two seconds, the acknowledgements of
    another: it proposes a view after each. Then three of four are there."""
    lab = Lab(1, secondaries=3, protocol=protocol, knobs=Knobs(open_slots=1))
    lab.ada.call(Mkdir("/before"))
    first = lab.primary
    lab.cluster.hold(lambda sender, receiver, message: type(message) is Accepted)
    lab.begin(lab.ada, Mkdir("/slow"))
    lab.run_ms(2_000)
    lab.faults.crash(first)
    lab.cluster.run_until(lambda: redoes(lab), 30 * SECOND)
    elected = lab.reported(StepTaken)[-1].server
    lost, _ = [name for name in lab.cluster.view() if name not in (first, elected)]
    lab.faults.gone(lost)
    lab.cluster.net.holds[0].drop()
    lab.run_ms(800)
    held = lab.cluster.hold(lambda sender, receiver, message: type(message) is Accepted)
    lab.run_ms(2_000)
    held.drop()
    lab.faults.restart(first)
    lab.serves_again(lab.eve, 60 * SECOND)


def redoes(lab: Lab) -> bool:
    """Whether a server other than the first primary redoes slots."""
    return any(each.event.step == "2" and each.event.epoch > 1 for each in lab.reported(StepTaken))
