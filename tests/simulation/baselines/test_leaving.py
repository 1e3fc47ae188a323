"""A server leaves a group with a shared journal: the journal is pruned without it."""

from __future__ import annotations

import pytest

from nodes.config import SECOND, JournalConfig, Knobs, one_group
from nodes.families import family_named
from nodes.faults.check import FaultUnsupported
from nodes.trace.events import Configured
from tests.simulation.at_work import AtWork
from tests.simulation.baselines.lab import SHARED

every_family = pytest.mark.parametrize("protocol", SHARED)


class Group(AtWork):
    def __init__(self, protocol: str, standbys: int = 2):
        journal = JournalConfig(nodes=family_named(protocol).journal_names())
        knobs = Knobs(segment_bytes=1_000, ledger_entries=6)
        config = one_group(standbys, protocol=protocol, journal=journal, image_every=30, knobs=knobs)
        super().__init__(config, seed=1, rate_per_s=60)
        self.cluster.run_for(1 * SECOND)

    def stored(self) -> dict[str, int]:
        """Bytes on the disk of each node of the journal that has entries."""
        stored = {name: self.cluster.servers[name].store.used() for name in self.cluster.config.journal.nodes}
        return {name: size for name, size in stored.items() if size > 100}


@every_family
def test_the_journal_is_pruned_without_a_server_that_is_gone_for_ever(protocol: str) -> None:
    group = Group(protocol)
    gone = group.of("S")
    group.cluster.faults.do("crash", [gone])
    group.cluster.run_for(10 * SECOND)
    before = group.stored()
    group.cluster.run_for(30 * SECOND)
    assert before and all(size > before[name] for name, size in group.stored().items())
    group.cluster.faults.do("remove_server", [gone])
    group.cluster.run_until(
        lambda: all(size < before[name] for name, size in group.stored().items()), 60 * SECOND
    )
    assert gone not in group.reported(Configured)[-1].members
    group.crash_and_restart(group.of("A"))
    group.finish()


@every_family
def test_a_server_leaves_while_the_active_dies(protocol: str) -> None:
    """The order ends with the tenure, or has been carried out: no server counts twice."""
    group = Group(protocol)
    leaver, active = group.of("S"), group.of("A")
    group.cluster.faults.do("remove_server", [leaver])
    group.crash_and_restart(active)
    members = group.reported(Configured)[-1].members
    assert group.cluster.servers[leaver].gone == (leaver not in members)
    group.finish()


def test_who_cannot_leave() -> None:
    group = Group("bookkeeper")
    with pytest.raises(FaultUnsupported, match="is the active"):
        group.cluster.faults.do("remove_server", [group.of("A")])
    group.cluster.faults.do("remove_server", [group.of("S")])
    group.cluster.run_for(3 * SECOND)
    with pytest.raises(FaultUnsupported, match="never counts fewer than 2"):
        group.cluster.faults.do("remove_server", [group.of("S")])
    group.finish()
