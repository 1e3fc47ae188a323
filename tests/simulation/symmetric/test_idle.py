"""An idle group sends the coordination service no requests: it watches."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import pytest

from nodes.config import SECOND, Timing
from nodes.metadata.operations import Mkdir, Stat
from nodes.protocols.symmetric.messages import Alive, Missing
from nodes.sim.coordination import SimCoordination
from nodes.trace.events import Serving
from nodes.wire.messages import Message
from tests.simulation.symmetric.lab import SymmetricLab


def test_idle_members_send_no_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    call = SimCoordination._call

    async def counted(self: SimCoordination, operation: Any, *more: Any, **named: Any) -> Any:
        asked.append(operation)
        return await call(self, operation, *more, **named)

    monkeypatch.setattr(SimCoordination, "_call", counted)
    lab = SymmetricLab(1)
    lab.ada.call(Mkdir("/a"))
    lab.run_ms(5_000)
    assert asked
    asked.clear()
    lab.cluster.run_for(30 * SECOND)
    assert asked == []


def test_a_server_that_is_added_after_long_is_known_to_all() -> None:
    lab = SymmetricLab(2)
    lab.run_ms(30_000)
    lab.faults.add_server("g1")
    lab.cluster.run_until(lambda: lab.cluster.view().get("mds4") == "M", 5 * SECOND)
    lab.ada.call(Mkdir("/b"))
    lab.faults.expire_session("mds1")
    lab.run_ms(10_000)
    lab.faults.add_server("g1")
    lab.cluster.run_until(lambda: lab.cluster.view().get("mds5") == "M", 5 * SECOND)
    lab.eve.call(Stat("/b"))
    lab.finish()
    assert lab.broken() == {}


def test_members_of_the_plain_protocol_wait_for_the_heartbeats_of_idle_ones() -> None:
    """A journal that stands still until the next heartbeat is not stuck, however short the leases are."""
    lab = SymmetricLab(1, members=2, order="plain", timing=Timing(ack_timeout_ms=60))
    lab.ada.call(Mkdir("/a"))
    for number in range(4):
        lab.run_ms(700)
        lab.ada.call(Mkdir(f"/a/{number}"))
    lab.finish()
    assert lab.broken() == {}
    assert {stamped.event.epoch for stamped in lab.cluster.events if type(stamped.event) is Serving} == {1}


def test_greetings_do_not_multiply_where_round_trips_outlast_leases() -> None:
    """No member ever holds a lease: a response that asks for another one would cause an endless exchange, beside those of every tick."""
    lab = SymmetricLab(3, timing=Timing(ack_timeout_ms=200))
    lab.run_ms(2_000)
    for one, other in combinations(lab.names, 2):
        lab.faults.delay(one, other, ms=150)
    sent: list[int] = []

    def count(source: str, target: str, message: Message) -> bool:
        if type(message) is Alive:
            sent.append(lab.cluster.now_ns // SECOND)
        return False

    lab.cluster.hold(count)
    lab.run_ms(20_000)
    rates = Counter(sent)
    # Three members greet two others 25 times a second; each greeting has one answer, and each answer another one.
    assert max(rates.values()) <= 3 * 150, rates


def test_heartbeats_of_idle_members_are_not_asked_for_again() -> None:
    """A greeting of the same tick leaves together with the heartbeat and does not count it: no member has lost it."""
    lab = SymmetricLab(4, order="plain")
    asked: list[Message] = []

    def count(source: str, target: str, message: Message) -> bool:
        if type(message) is Missing:
            asked.append(message)
        return False

    lab.cluster.hold(count)
    lab.run_ms(5_000)
    assert asked == []
