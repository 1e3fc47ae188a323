"""A member that was away when the disks of its group were first recorded (safety rule 23)."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from nodes.config import SECOND, one_group
from nodes.invariants import registry
from nodes.metadata.operations import Mkdir, Stat
from nodes.replicas.view import Configuration
from nodes.sim.cluster import SimCluster
from nodes.world import SetNode
from tests.simulation.paxos.lab import SETTLE_NS, Lab

PROTOCOLS = ["packed-paxos", "multi-paxos"]


class EarlyLab(Lab):
    """A lab in which these servers are down before the group has begun."""

    def __init__(self, seed: int, *away: str, secondaries: int = 2, serves: bool = True, **settings: Any):
        config = one_group(secondaries, **settings)
        self.cluster = SimCluster(config, seed)
        self.invariants = registry.start(config)
        self.cluster.on_event(self.invariants.on_event)
        self.tasks = []
        self.ada = self.cluster.start_client("ada")
        self.eve = self.cluster.start_client("eve")
        self.faults = self.cluster.faults
        for name in away:
            self.faults.crash(name)
        if serves:
            self.cluster.run_until(lambda: bool(self.serving()), SETTLE_NS)

    @property
    def recorded(self) -> dict[str, int]:
        """The disks on record."""
        node = self.cluster.ensemble.tree.nodes["/cloverlab/groups/g1/configuration"]
        return msgspec.json.decode(node.data, type=Configuration).disks


def names_disks(changes: list[Any]) -> bool:
    return any(type(change) is SetNode and change.path.endswith("/configuration") for change in changes)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("lost", [0, 1])
def test_a_member_that_was_away_at_the_first_record_replaces_a_lost_disk(protocol: str, lost: int) -> None:
    """Two of three disks are whole, one of them on record."""
    lab = EarlyLab(1, "mds3", protocol=protocol)
    lab.ada.call(Mkdir("/before"))
    assert sorted(lab.recorded) == ["mds1", "mds2"]
    first = lab.primary
    second = next(name for name in ("mds1", "mds2") if name != first)
    lab.faults.crash(first)
    lab.faults.crash(second)
    lab.faults.new_disk((first, second)[lost])
    for name in (first, second, "mds3"):
        lab.faults.restart(name)
    lab.serves_again(lab.ada, 60 * SECOND)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_an_unrecorded_disk_acknowledged_is_not_given_up(protocol: str) -> None:
    """The primary and a member that is not on record yet have a write. The member loses its disk, and the end of the primary's rots."""
    lab = EarlyLab(1, "mds3", protocol=protocol)
    lab.ada.call(Mkdir("/before"))
    first = lab.primary
    second = next(name for name in ("mds1", "mds2") if name != first)
    held = lab.cluster.hold_write(first, names_disks)
    lab.faults.crash(second)
    lab.faults.restart("mds3")
    written = lab.begin(lab.ada, Mkdir("/lost"))
    lab.cluster.run_until(lambda: written.done() or bool(held.held), 30 * SECOND)
    lab.run_ms(2_000)
    lab.faults.power_loss(first)
    lab.faults.new_disk("mds3")
    lab.faults.corrupt(first, "journal_tail")
    for name in (first, second, "mds3"):
        lab.faults.restart(name)
    lab.cluster.run_for(30 * SECOND)
    lab.begin(lab.eve, Stat("/lost"))
    lab.cluster.run_for(30 * SECOND)
    lab.invariants.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_nothing_is_decided_before_the_first_record(protocol: str) -> None:
    """The first primary is cut off before it has recorded a disk, and the other one that accepted its view loses its own. The two that are left may
    not know of that view, so it must not have been decided: its primary would keep another first slot for ever."""
    lab = EarlyLab(1, "mds3", protocol=protocol, serves=False)
    held = [lab.cluster.hold_write(name, names_disks) for name in ("mds1", "mds2")]
    lab.cluster.run_until(lambda: any(each.held for each in held), 10 * SECOND)
    lab.run_ms(100)
    first, second = ("mds1", "mds2") if held[0].held else ("mds2", "mds1")
    lab.faults.cut(first)
    lab.faults.new_disk(second)
    lab.faults.restart(second)
    lab.faults.restart("mds3")
    lab.cluster.run_until(lambda: bool(lab.serving()), SETTLE_NS)
    lab.ada.call(Mkdir("/a"))
    lab.finish()
    assert lab.broken() == {}
