"""A new leader's stamps are later than all that its clients have seen: no late copy opens a session again."""

from __future__ import annotations

import pytest

from nodes.metadata.operations import Append, Create, Delete, Mkdir, Open, OpenSession, Stat
from nodes.wire.messages import Request
from tests.simulation.baselines.lab import lab_of
from tests.simulation.client.test_sessions import copied, names
from tests.simulation.mams.lab import SETTLE_NS, Lab

TTL_MS = 8_000


def lab_with_clocks_apart(protocol: str, seed: int, behind_ms: int) -> Lab:
    """Every server but the active starts again with a clock that is behind."""
    lab = lab_of(protocol, seed, standbys=2, session_ttl_ms=TTL_MS)
    active = lab.active
    for name in list(lab.cluster.view()):
        if name != active:
            lab.faults.skew_clock(name, -behind_ms)
            lab.faults.crash(name)
            lab.faults.restart(name)
            lab.cluster.run_until(lab.cluster.settled, SETTLE_NS)
    assert lab.active == active
    return lab


def is_held(lab: Lab, path: str) -> bool:
    """Whether the session of the file's writer has not ended."""
    return bool(lab.eve.call(Open(path)).result.writing)  # type: ignore[union-attr]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("protocol", "behind_ms", "hands_over"),
    [
        *((protocol, 12_000, False) for protocol in ("mams", "2pc", "qjm", "bookkeeper")),
        ("mams", 2_500, True),
    ],
)
def test_a_renewal_from_before_a_takeover_opens_no_ended_session(
    protocol: str, behind_ms: int, hands_over: bool, seed: int
) -> None:
    """The renewal names a stamp of the former leader, and a late copy of an answered call follows it."""
    lab = lab_with_clocks_apart(protocol, seed, behind_ms)
    first = lab.active
    lab.ada.call(Create("/held"))
    lab.ada.call(Append("/held"))
    copies = copied(lab, (OpenSession, Create))
    lost = lab.cluster.hold(
        lambda sender, receiver, message: (
            sender == "ada" and type(message) is Request and type(message.operation) is OpenSession
        )
    )
    while not lost.messages:
        lab.run_ms(100)
        lab.ada.call(Stat("/held"))
    if hands_over:
        lab.cluster.begin_asking(first, {"do": "hand_over"})
    else:
        lab.faults.crash(first)
    lab.await_next_active()
    lab.ada.call(Create("/f"))
    lab.faults.crash("ada")
    lost.drop()
    lab.eve.call(Mkdir("/eve"))
    lab.eve.call(Delete("/f"))
    while is_held(lab, "/held"):
        lab.run_ms(50)
    renewals = [copy for copy in copies if type(copy[2].operation) is OpenSession]
    creations = [copy for copy in copies if type(copy[2].operation) is Create]
    for sender, _, copy in (renewals[0], creations[-1]):
        lab.cluster.net.carry(sender, lab.active, [copy])
        lab.run_ms(500)
    assert names(lab) == ["eve", "held"]
    lab.finish()
    assert lab.broken() == {}
