"""Renewals that wait longer than a session lives, because no member executes writes meanwhile."""

from __future__ import annotations

import pytest

from nodes.config import Knobs
from nodes.metadata.operations import AddBlock, Append, Create, Mkdir, Opened
from nodes.metadata_server.messages import TakeImage
from nodes.protocols.vssp.messages import OpenImage
from nodes.sim.ensemble import COORDINATION
from tests.simulation.symmetric.lab import SymmetricLab

TTL_MS = 4_000


def holds_a_file(lab: SymmetricLab) -> AddBlock:
    """The client has a file open, at the second member, and never reaches the first one. Returns a call that only the holder of the file may make."""
    first = lab.names[0]
    lab.cluster.hold(lambda sender, receiver, message: receiver == first and sender.startswith("ada"))
    lab.asks(lab.ada, lab.names[1])
    lab.ada.call(Create("/f"))
    opened = lab.ada.call(Append("/f"))
    assert isinstance(opened.result, Opened)
    return AddBlock(opened.result.inode, opened.number)


@pytest.mark.parametrize("ms", [3_000, 12_000])
def test_a_full_log_ends_no_session(ms: int) -> None:
    """The only image that is taken needs so long. Then the first member broadcasts at once."""
    lab = SymmetricLab(1, image_every=0, log_bytes=20_000, session_ttl_ms=TTL_MS)
    shows = holds_a_file(lab)
    first = lab.names[0]
    lost = lab.cluster.hold(lambda sender, receiver, message: type(message) in (OpenImage, TakeImage))
    waits = lab.begin(lab.eve, Mkdir("/d"))
    for number in range(400):
        lab.run_ms(5)
        if not waits.done():
            break
        waits = lab.begin(lab.eve, Mkdir(f"/d{number}"))
    lab.run_ms(500)
    assert not waits.done()
    lab.faults.slow_disk(first, ms=ms)
    lab.run_ms(3_500)
    lab.faults.slow_disk(first, ms=0)
    lost.drop()
    lab.cluster.run_until(waits.done)
    lab.run_ms(TTL_MS)
    lab.ada.call(shows)
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("paused", ["mds1", "mds3"])
@pytest.mark.parametrize("ms", [5_000, 12_000])
def test_a_paused_member_ends_no_session(ms: int, paused: str) -> None:
    """No member reaches the coordination service, so the view stays. The only message that a member may broadcast meanwhile is another client's."""
    lab = SymmetricLab(1, session_ttl_ms=TTL_MS, knobs=Knobs(broadcasts=1))
    shows = holds_a_file(lab)
    for name in lab.names:
        lab.faults.cut(name, COORDINATION)
    lab.run_ms(1_000)
    lab.faults.pause(paused)
    lab.asks(lab.eve, "mds2")
    lab.begin(lab.eve, Mkdir("/d"))
    lab.run_ms(ms)
    lab.faults.resume(paused)
    lab.run_ms(TTL_MS)
    for name in lab.names:
        lab.faults.heal(name, COORDINATION)
    lab.ada.call(shows)
    lab.finish()
    assert lab.broken() == {}
