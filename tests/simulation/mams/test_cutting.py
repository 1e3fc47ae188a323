"""A member truncates its journal while the active continues to write: groups that arrive meanwhile follow the remaining ones."""

from __future__ import annotations

import pytest

from nodes.config import Knobs
from nodes.metadata.operations import Mkdir
from nodes.protocols.mams.pool_node import PoolJournal
from nodes.trace.events import Cut
from tests.simulation.mams.lab import Lab


@pytest.mark.parametrize("seed", range(3))
def test_groups_that_come_during_a_cut_are_applied_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of the message that opened an old renewing session reaches a member that is in step, and whose disk is slow. A session spares what
    its writer has sent, which would leave nothing to cut here."""
    monkeypatch.setattr(PoolJournal, "spared_sn", lambda pool, epoch: 0)
    lab = Lab(seed, standbys=2, knobs=Knobs(direct_groups=1))
    lab.ada.call(Mkdir("/a"))
    member = lab.standbys[0]
    active, late = lab.renewed(member, 5)
    for number in range(5):
        lab.ada.call(Mkdir(f"/c{number}"))
    lab.faults.slow_disk(member, ms=20)
    for number in range(10):
        lab.begin(lab.eve, Mkdir(f"/d{number}"))
        if number == 3:
            lab.cluster.net.carry(active, member, [late])
        lab.run_ms(7)
    lab.run_ms(500)
    lab.finish()
    assert [stamped for stamped in lab.cluster.events if type(stamped.event) is Cut]
    assert lab.broken() == {}
