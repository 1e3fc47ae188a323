"""A new active waits out every server that may still answer reads, however many were elected since (safety rule 16)."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import JournalConfig
from nodes.coordination.operations import DeleteZnode
from nodes.coordination.tree import OPERATOR
from nodes.families import family_named
from nodes.metadata.operations import Mkdir, Stat
from nodes.trace.events import RoleChanged
from nodes.wire.messages import Refused
from tests.simulation.mams.lab import Lab


def elected(lab: Lab, epoch: int) -> bool:
    """Whether a server has written this epoch into the view."""
    roles = [stamped.event for stamped in lab.cluster.events if type(stamped.event) is RoleChanged]
    return any((each.role, each.epoch) == ("elected", epoch) for each in roles)


@pytest.mark.parametrize("protocol", ["mams", "qjm", "hadoop-ha", "bookkeeper"])
@pytest.mark.parametrize("seed", range(2))
def test_an_elected_that_never_served_does_not_hide_the_active_before_it(protocol: str, seed: int) -> None:
    """The lock is taken twice: the second elected server knows only the first as the active, while the one before still answers reads."""
    journal = JournalConfig(nodes=family_named(protocol).journal_names())
    lab = Lab(seed, protocol=protocol, journal=journal)
    lab.ada.call(Mkdir("/a"))
    lab.eve.call(Stat("/a"))
    old, cluster = lab.active, lab.cluster
    cluster.hold_watch(old)
    for name in [*lab.standbys, "ada"]:
        lab.faults.cut(old, name)
    lab.faults.take_lock("g1")
    cluster.run_until(lambda: elected(lab, 2))
    cluster.ensemble.submit(OPERATOR, DeleteZnode("/cloverlab/groups/g1/lock"))
    cluster.run_until(lambda: elected(lab, 3))
    lab.begin(lab.ada, Mkdir("/new"))
    for _ in range(30):
        lab.run_ms(100)
        lab.begin_and_wait(lab.eve, Stat("/new"))
    lab.finish()
    assert lab.broken() == {}
    assert all(task.exception() is None or "ENOENT" in str(task.exception()) for task in lab.tasks)


def test_who_has_lost_the_lock_is_named_to_clients_no_more() -> None:
    """A standby that named the old active until the epoch is written would send clients to a server that does not answer."""
    named: list[str] = []
    for seed in range(6):
        lab = Lab(seed)
        lab.ada.call(Mkdir("/a"))
        old, cluster = lab.active, lab.cluster
        lab.faults.crash(old)
        cluster.run_until(lambda cluster=cluster, old=old: cluster.ensemble.observer.holders["g1"] != old)  # type: ignore[misc]
        lab.run_ms(20)

        def note(sender: str, receiver: str, message: Any, old: str = old) -> bool:
            if type(message) is Refused:
                named.append("the old one" if message.active == old else message.active)
            return False

        cluster.hold(note)
        calls = [lab.begin(client, Stat("/a")) for client in (lab.ada, lab.eve)]
        cluster.run_until(lambda calls=calls: all(call.done() for call in calls))  # type: ignore[misc]
    assert named and "the old one" not in named
