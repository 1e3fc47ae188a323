"""A server outside the configuration that is elected becomes a member (safety rule 3): the group must be able to lose another one."""

from __future__ import annotations

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Mkdir
from nodes.mutations import Mutations
from tests.simulation.mams.lab import Lab


def elected_from_outside(lab: Lab, after_ms: int) -> str:
    """A standby is removed from the configuration and returns; before it is renewed the sessions of all others end."""
    outside = lab.standbys[0]
    lab.faults.crash(outside)
    lab.cluster.run_until(lambda: outside not in lab.cluster.configured["g1"], 60 * SECOND)
    lab.ada.call(Mkdir("/without"))
    lab.faults.restart(outside)
    lab.run_ms(after_ms)
    for name in lab.cluster.configured["g1"]:
        if lab.cluster.servers[name].process == "running":
            lab.faults.do("expire_session", [name])
    lab.cluster.run_until(lambda: lab.cluster.view()[outside] == "A", 30 * SECOND)
    return outside


@pytest.mark.parametrize("after_ms", [30, 120])
@pytest.mark.parametrize("joins", [True, False])
def test_a_leader_from_outside_counts(after_ms: int, joins: bool) -> None:
    """Otherwise the two old members are both needed, although three servers are in step."""
    lab = Lab(1, standbys=2, mutations=Mutations(leads_without_counting=not joins))
    lab.ada.call(Mkdir("/before"))
    leader = elected_from_outside(lab, after_ms)
    lab.run_ms(30_000)
    assert (leader in lab.cluster.configured["g1"]) is joins
    lab.faults.crash(lab.standbys[0])
    written = lab.begin(lab.ada, Mkdir("/after"))
    lab.cluster.run_for(120 * SECOND)
    assert (written.done() and written.exception() is None) is joins


@pytest.mark.parametrize("protocol", ["mams", "2pc"])
@pytest.mark.parametrize("joins", [True, False])
def test_a_leader_from_outside_counts_before_it_serves(protocol: str, joins: bool) -> None:
    """One of the two members is dead: without the leader the other cannot commit, and the takeover would never end."""
    lab = Lab(1, standbys=2, protocol=protocol, mutations=Mutations(leads_without_counting=not joins))
    lab.ada.call(Mkdir("/before"))
    outside = lab.standbys[0]
    lab.faults.crash(outside)
    lab.cluster.run_until(lambda: outside not in lab.cluster.configured["g1"], 60 * SECOND)
    lab.faults.crash(lab.standbys[0])
    lab.run_ms(7_000)
    leader = lab.active
    lab.faults.restart(outside)
    lab.run_ms(60)
    lab.faults.do("expire_session", [leader])
    lab.run_ms(60_000)
    written = lab.begin(lab.ada, Mkdir("/after"))
    lab.cluster.run_for(120 * SECOND)
    assert (written.done() and written.exception() is None) is joins
