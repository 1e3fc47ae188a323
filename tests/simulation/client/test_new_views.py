"""Clients are sent each new view: a call that waits for the old active goes on with the new one as soon as that serves."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import MILLISECOND, SECOND
from nodes.metadata.operations import Mkdir, Stat
from nodes.wire.messages import ViewCopy
from tests.simulation.leases.lab import LOCKED, Lab


def answered_after_ms(lab: Lab) -> float:
    """From the service of the next active until the calls that waited for the old one are answered."""
    tasks = [lab.begin(lab.ada, Mkdir(f"/b{lab.cluster.now_ns}")), lab.begin(lab.eve, Stat("/"))]
    lab.await_next_active()
    began_ns = lab.cluster.now_ns
    lab.cluster.run_until(lambda: all(task.done() for task in tasks), 10 * SECOND)
    assert all(task.result().error == "" for task in tasks)
    return (lab.cluster.now_ns - began_ns) / MILLISECOND


@pytest.mark.parametrize("protocol", LOCKED)
def test_a_call_that_waits_for_the_old_active_is_answered_at_once(protocol: str) -> None:
    lab = Lab(1, protocol)
    for _ in range(2):
        old = lab.leader()
        lab.faults.crash(old)
        assert answered_after_ms(lab) < 20
        lab.faults.restart(old)
        lab.cluster.run_until(lab.cluster.settled, 60 * SECOND)
        lab.run_ms(1_000)


def test_a_silent_active_is_left_as_soon_as_another_serves() -> None:
    lab = Lab(1, detection="members")
    lab.faults.pause(lab.old)
    assert answered_after_ms(lab) < 20


def test_a_server_that_was_not_asked_is_named_by_the_others() -> None:
    """It has restarted since: it does not know the clients."""
    lab = Lab(1, standbys=1)
    (other,) = lab.others
    lab.faults.crash(other)
    lab.run_ms(10_000)
    lab.faults.restart(other)
    lab.cluster.run_until(lab.cluster.settled, 60 * SECOND)
    sent: list[tuple[str, Any]] = []
    lab.cluster.net.on_sent.subscribe(lambda sender, receiver, message: sent.append((sender, message)))
    lab.faults.take_lock("g1")
    answered_after_ms(lab)
    views = [
        (sender, each.active) for sender, each in sent if type(each) is ViewCopy and each.active == other
    ]
    assert (lab.old, other) in views
