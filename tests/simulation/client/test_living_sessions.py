"""The session of a live client goes on: through a stall, after a refused call, and beside a cancelled one."""

from __future__ import annotations

import pytest

from nodes.errors import FsError
from nodes.metadata.operations import (
    AddBlock,
    Append,
    Complete,
    Create,
    Delete,
    Made,
    Mkdir,
    Opened,
    OpenSession,
)
from nodes.wire.messages import Request
from tests.simulation.baselines.lab import lab_of
from tests.simulation.client.test_sessions import names
from tests.simulation.data.lab import DataLab, content
from tests.simulation.mams.lab import SETTLE_NS, Lab

TTL_MS = 30_000
ONE_BLOCK = 1 << 22
"""Size of a block that takes the whole content, so that the writer makes no call meanwhile."""


def stall(lab: Lab, duration_ms: int) -> None:
    """The active has no write quorum for so long, and another client's call shows it that."""
    others = [name for name in lab.cluster.view() if name != lab.active]
    for name in others:
        lab.faults.crash(name)
    lab.begin(lab.eve, Mkdir("/stalled"))
    lab.run_ms(duration_ms)
    for name in others:
        lab.faults.restart(name)


@pytest.mark.parametrize("stall_ms", [26_000, 28_000])
@pytest.mark.parametrize("protocol", ["mams", "2pc"])
def test_a_put_survives_a_stall_that_is_shorter_than_its_session(protocol: str, stall_ms: int) -> None:
    """No renewal arrives during the stall, so the group must wait for one after it."""
    lab = DataLab(1, standbys=2, session_ttl_ms=TTL_MS, protocol=protocol)
    lab.pace_ms = 3_000
    data = content(1, 50_000 * 24)
    put = lab.begin_put("/f", data, block_size=ONE_BLOCK)
    lab.run_ms(8_000)
    stall(lab, stall_ms)
    lab.until(put.done)
    assert put.result() == len(data)
    assert lab.get("/f") == data
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize(("idle_ms", "stall_ms"), [(8_000, 25_000), (8_000, 35_000), (19_000, 35_000)])
@pytest.mark.parametrize("protocol", ["mams", "packed-paxos"])
def test_sessions_of_live_clients_outlive_a_stall(protocol: str, idle_ms: int, stall_ms: int) -> None:
    """Their renewals wait for the quorum, too."""
    lab = Lab(1, standbys=2, session_ttl_ms=TTL_MS, protocol=protocol)
    lab.ada.call(Create("/f"))
    opened = lab.ada.call(Append("/f"))
    assert isinstance(opened.result, Opened)
    lab.run_ms(idle_ms)
    stall(lab, stall_ms)
    lab.cluster.run_until(lab.cluster.settled, SETTLE_NS)
    lab.run_ms(TTL_MS)
    lab.ada.call(AddBlock(opened.result.inode, opened.number))
    lab.eve.call(Mkdir("/after"))
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("protocol", ["mams", "packed-paxos", "symmetric"])
def test_a_refused_call_for_one_file_does_not_end_the_hold_on_another(protocol: str) -> None:
    """The error is ESTALE, as when the session has ended, but the renewals must go on."""
    lab = DataLab(1, standbys=2, protocol=protocol, session_ttl_ms=TTL_MS)
    lab.pace_ms = 2_500
    data = content(1, 50_000 * 30)
    put = lab.begin_put("/slow", data, block_size=ONE_BLOCK)
    lab.until(lambda: lab.parts_given > 1)
    lab.ada.call(Create("/gone"))
    opened = lab.ada.call(Append("/gone"))
    assert isinstance(opened.result, Opened)
    lab.eve.call(Delete("/gone"))
    with pytest.raises(FsError, match="ESTALE: the file is gone"):
        lab.ada.call(Complete(opened.result.inode, opened.number))
    lab.until(put.done)
    assert put.result() == len(data)
    assert lab.get("/slow") == data
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("protocol", ["mams", "2pc", "qjm", "packed-paxos", "symmetric"])
def test_a_cancelled_call_cancels_no_other(protocol: str) -> None:
    """Both wait for the session to be opened, and the first one began that."""
    lab = lab_of(protocol, 1, standbys=2)
    held = lab.cluster.hold(
        lambda sender, receiver, message: (
            sender == "ada" and type(message) is Request and type(message.operation) is OpenSession
        )
    )
    cancelled = lab.ada.spawn(Mkdir("/one"))
    other = lab.begin(lab.ada, Mkdir("/two"))
    lab.cluster.run_until(lambda: bool(held.messages), SETTLE_NS)
    cancelled.cancel()
    lab.cluster.run_until(cancelled.done, SETTLE_NS)
    held.release()
    lab.cluster.run_until(other.done, SETTLE_NS)
    assert cancelled.cancelled() and not other.cancelled()
    assert isinstance(other.result().result, Made)
    lab.ada.call(Mkdir("/three"))
    assert names(lab) == ["three", "two"]
    lab.finish()
    assert lab.broken() == {}
