"""A junior's renewing session may outlive its reason. What the junior acknowledged meanwhile stays, and journal and namespace stay equal."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import Knobs
from nodes.metadata.operations import Mkdir
from nodes.protocols.mams.mechanism import Mams
from nodes.protocols.mams.messages import Promise, Renew
from nodes.protocols.vssp.messages import FilePiece
from nodes.replicas.log import ReplicaLog
from nodes.sim.network import HeldMessages
from nodes.trace.events import Cut
from nodes.wire.messages import Message
from tests.simulation.mams.lab import Lab


def begin_reading(seed: int, **settings: Any) -> tuple[Lab, str, str, HeldMessages]:
    """A member that lacks 40 groups begins to read an image, which does not arrive: (lab, member, other standby, held pieces)."""
    lab = Lab(
        seed, standbys=2, min_in_step=3, image_every=10, image_gap=1, knobs=Knobs(direct_groups=1), **settings
    )
    lab.ada.call(Mkdir("/a"))
    member, other = lab.standbys
    lab.faults.crash(member)
    lab.run_ms(8_000)
    for number in range(40):
        lab.ada.call(Mkdir(f"/b{number}"))
    held = lab.cluster.hold(
        lambda sender, receiver, message: type(message) is FilePiece and receiver == member
    )
    lab.faults.restart(member)
    lab.cluster.run_until(lambda: bool(held.messages))
    return lab, member, other, held


@pytest.mark.parametrize("seed", range(3))
def test_an_image_of_an_earlier_epoch_cuts_no_group_of_a_later_one(seed: int) -> None:
    """The active dies while the member reads; the next one counts the member's acknowledgements and dies as well."""
    lab, _, other, held = begin_reading(seed)
    old = lab.active
    lab.faults.crash(old)
    lab.faults.take_lock("g1")
    lab.await_next_active()
    for number in range(5):
        lab.begin_and_wait(lab.ada, Mkdir(f"/c{number}"))
    held.release()
    lab.run_ms(100)
    lab.faults.crash(other)
    lab.faults.restart(old)
    lab.run_ms(20_000)
    lab.finish()
    assert lab.broken() == {}
    assert not [stamped for stamped in lab.cluster.events if type(stamped.event) is Cut]


@pytest.mark.parametrize("seed", range(3))
def test_a_session_that_ends_while_the_journal_begins_anew_leaves_no_gap(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy of the message that opened it comes while the disk removes the journal that an image replaces."""
    begun: list[int] = []
    renewals: list[Renew] = []
    on_renew = Mams._on_renew

    def note(mams: Mams, peer: str, message: Renew) -> None:
        renewals.append(message)
        on_renew(mams, peer, message)

    monkeypatch.setattr(Mams, "_on_renew", note)
    restart_at = ReplicaLog.restart_at

    async def seen(log: ReplicaLog, base: Any) -> None:
        begun.append(base.sn)
        await restart_at(log, base)

    monkeypatch.setattr(ReplicaLog, "restart_at", seen)
    lab, member, _, held = begin_reading(seed)
    opened: list[Message] = [message for message in renewals if message.image]
    lab.faults.slow_disk(member, ms=200)
    held.release()
    lab.cluster.run_until(lambda: bool(begun))
    lab.cluster.net.carry(lab.active, member, opened)
    lab.run_ms(300)
    lab.faults.slow_disk(member, ms=0, spread_ms=0)
    for number in range(5):
        lab.begin_and_wait(lab.ada, Mkdir(f"/c{number}"))
    lab.run_ms(3_000)
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("seed", range(3))
def test_a_reader_whose_promise_comes_late_is_renewed_by_the_next_active(seed: int) -> None:
    """Its session is of an epoch that it may not follow any more: it must not read for ever."""
    lab, member, _, held = begin_reading(seed)
    late = lab.cluster.hold(lambda sender, receiver, message: type(message) is Promise and sender == member)
    lab.faults.take_lock("g1")
    lab.await_next_active()
    held.release()
    for number in range(5):
        lab.begin_and_wait(lab.ada, Mkdir(f"/c{number}"))
    lab.run_ms(500)
    late.release()
    lab.cluster.run_until(lambda: lab.cluster.view()[member] == "S", 20_000_000_000)
    lab.finish()
    assert lab.broken() == {}
