"""The end of dead clients' sessions while the first member of the view comes and goes."""

from __future__ import annotations

import pytest

from nodes.metadata.operations import Append, Create, Opened
from tests.simulation.symmetric.lab import SymmetricLab

TTL_MS = 4_000


@pytest.mark.parametrize("up_ms", [3_000, 3_600, 5_000])
def test_a_first_member_that_restarts_too_often_keeps_no_session(up_ms: int) -> None:
    """It never measures a whole life of a session, but the others do: the file that the dead client had open is free."""
    lab = SymmetricLab(1, session_ttl_ms=TTL_MS)
    first = lab.names[0]
    for client in (lab.ada, lab.eve):
        lab.asks(client, "mds2")
    lab.eve.call(Create("/f"))
    lab.eve.call(Append("/f"))
    lab.eve.die()
    for _ in range(6):
        lab.faults.crash(first)
        lab.run_ms(900)
        lab.faults.restart(first)
        lab.run_ms(up_ms)
    assert isinstance(lab.ada.call(Append("/f")).result, Opened)
    lab.finish()
    assert lab.broken() == {}
