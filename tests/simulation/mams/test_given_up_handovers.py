"""A handover is given up after the successor has accepted it; later the active fails."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Mkdir, Stat
from nodes.protocols.mams.messages import HandOverReply
from nodes.trace.events import StepTaken
from tests.simulation.mams.lab import Lab

SOON_NS = 3 * SECOND
"""Less than the session time-out for which an acceptance stands."""


def given_up(lab: Lab) -> str:
    """The successor accepts, its reply is lost, and it is cut off from the others. It becomes a junior."""
    active, successor = lab.active, lab.standbys[0]
    replies = lab.cluster.hold(
        lambda sender, receiver, message: type(message) is HandOverReply and not message.refused
    )
    order = lab.cluster.begin_asking(active, {"do": "hand_over", "server": successor})
    lab.cluster.run_until(lambda: bool(replies.messages))
    replies.drop()
    for name in lab.cluster.view():
        if name != successor:
            lab.faults.cut(successor, name)
    lab.begin(lab.ada, Mkdir("/b"))
    lab.cluster.run_until(lambda: lab.cluster.view()[successor] == "J", 10 * SECOND)
    lab.cluster.run_until(order.done, 10 * SECOND)
    assert order.result()["refused"]
    return successor


def elections_for_nothing(lab: Lab) -> int:
    steps = [each.event for each in lab.cluster.events if type(each.event) is StepTaken]
    return sum(
        each.procedure == "upgrade" and each.step == "1" and "gives up" in each.detail for each in steps
    )


@pytest.mark.parametrize("detection", ["session", "members"])
@pytest.mark.parametrize("seed", range(2))
def test_a_successor_that_became_a_junior_leaves_the_lock_to_the_standbys(seed: int, detection: str) -> None:
    """A junior gives the lock up again. Without a draw it would be faster than all standbys."""
    lab = Lab(seed, detection=detection)
    lab.ada.call(Mkdir("/a"))
    active = lab.active
    successor = given_up(lab)
    lab.faults.crash(active)
    lab.faults.heal_all()
    if detection == "session":
        lab.faults.expire_session(active)
    written = lab.begin(lab.ada, Mkdir("/c"))
    lab.cluster.run_until(written.done, SOON_NS)
    assert written.exception() is None
    assert lab.active != successor and elections_for_nothing(lab) == 0
    for path in ("/a", "/b", "/c"):
        lab.eve.call(Stat(path))
    lab.finish()
    assert lab.broken() == {}
