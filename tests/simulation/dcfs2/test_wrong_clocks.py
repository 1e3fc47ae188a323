"""The clocks of one group are ahead of another group's by more than a session's life."""

from __future__ import annotations

import pytest

from nodes.metadata.operations import AddBlock, Append, Create, Mkdir, Opened
from nodes.units import home_group
from tests.simulation.dcfs2.lab import Groups
from tests.simulation.dcfs2.test_late_copies import make_at

TTL_MS = 4_000


@pytest.mark.parametrize("protocol", ["mams", "2pc", "packed-paxos"])
def test_the_sessions_of_living_clients_stay(protocol: str) -> None:
    """One client has a file open and renews its session. Another one brings the stamps of the other group."""
    lab = Groups(1, 2, 1, placement="random", session_ttl_ms=TTL_MS, protocol=protocol)
    make_at(lab, "/ahead", 2)
    for name in lab.servers(2):
        lab.cluster.faults.crash(name)
        lab.cluster.faults.skew_clock(name, ms=60_000)
    lab.cluster.run_for(3_000_000_000)
    for name in lab.servers(2):
        lab.cluster.faults.restart(name)
    lab.settle()
    number = 0
    while home_group(lab.eve.call(Create(f"/f{number}")).result.inode) != 1:  # type: ignore[union-attr]
        number += 1
    opened = lab.eve.call(Append(f"/f{number}"))
    assert isinstance(opened.result, Opened)
    for number in range(20):
        lab.cluster.run_for(500_000_000)
        lab.ada.call(Create(f"/ahead/f{number}"))
        lab.ada.call(Mkdir(f"/d{number}"))
    lab.eve.call(AddBlock(opened.result.inode, opened.number))
    lab.finish()
