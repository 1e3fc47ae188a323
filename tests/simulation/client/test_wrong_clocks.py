"""The clock of the next active is ahead by more than a session's life, from its start on."""

from __future__ import annotations

import pytest

from nodes.metadata.operations import AddBlock, Append, Create, Mkdir, Opened
from tests.simulation.baselines.lab import lab_of
from tests.simulation.mams.lab import SETTLE_NS

TTL_MS = 120_000


@pytest.mark.parametrize("protocol", ["mams", "2pc", "qjm", "packed-paxos"])
def test_the_session_of_a_client_that_renews_it_late_stays(protocol: str) -> None:
    """A client looks every third of its session's life whether it must renew it. It has just missed one such time when the active dies."""
    lab = lab_of(protocol, 1, standbys=2, session_ttl_ms=TTL_MS)
    for name in [name for name in lab.cluster.view() if name != lab.active]:
        lab.faults.crash(name)
        lab.run_ms(1_000)
        lab.faults.skew_clock(name, ms=2 * TTL_MS)
        lab.faults.restart(name)
        lab.cluster.run_until(lab.cluster.settled, SETTLE_NS)
    lab.ada.call(Create("/f"))
    opened = lab.ada.call(Append("/f"))
    assert isinstance(opened.result, Opened)
    lab.run_ms(TTL_MS // 3)
    lab.ada.call(Mkdir("/late"))
    lab.faults.crash(lab.active)
    lab.run_ms(TTL_MS)
    lab.ada.call(AddBlock(opened.result.inode, opened.number))
    lab.finish()
    assert lab.broken() == {}
