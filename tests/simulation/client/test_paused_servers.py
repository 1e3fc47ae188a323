"""All servers of a group stand still for longer than a session lives, as where one machine is suspended. The clients live on."""

from __future__ import annotations

import pytest

from nodes.metadata.operations import AddBlock, Append, Create, Opened
from tests.simulation.baselines.lab import lab_of
from tests.simulation.mams.lab import Lab
from tests.simulation.symmetric.lab import SymmetricLab

TTL_MS = 4_000


def keeps_its_file(lab: Lab, ms: int) -> None:
    """A client has a file open. Its renewals wait at the servers, which look for dead clients as soon as they go on."""
    lab.ada.call(Create("/f"))
    opened = lab.ada.call(Append("/f"))
    assert isinstance(opened.result, Opened)
    lab.run_ms(TTL_MS // 2)
    names = list(lab.cluster.view())
    for name in names:
        lab.faults.pause(name)
    lab.run_ms(ms)
    for name in names:
        lab.faults.resume(name)
    lab.run_ms(TTL_MS)
    lab.ada.call(AddBlock(opened.result.inode, opened.number))
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("ms", [4_500, 12_000, 30_000])
@pytest.mark.parametrize("standbys", [0, 2])
@pytest.mark.parametrize("protocol", ["mams", "multi-paxos", "avatar"])
def test_a_paused_group_ends_no_session(protocol: str, standbys: int, ms: int) -> None:
    keeps_its_file(lab_of(protocol, 1, standbys=standbys, session_ttl_ms=TTL_MS), ms)


@pytest.mark.parametrize("ms", [4_500, 12_000, 30_000])
def test_a_paused_member_ends_no_session(ms: int) -> None:
    """The only one, so that its view stays."""
    keeps_its_file(SymmetricLab(1, members=1, session_ttl_ms=TTL_MS), ms)
