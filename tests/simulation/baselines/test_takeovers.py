"""Takeovers of a shared journal that fail half-way, or in a slow environment."""

from __future__ import annotations

import pytest

from nodes.config import SECOND, Timing
from nodes.metadata.operations import Mkdir, Stat
from nodes.trace.events import Committed
from nodes.wire.journal_messages import AddEntry, JournalWritten, WriteJournal
from tests.simulation.baselines.lab import lab_of, ledgers_on


@pytest.mark.parametrize("seed", range(3))
def test_what_a_recovery_decided_is_reported_though_nobody_lived_to_report_it(seed: int) -> None:
    """The first active never receives the acknowledgement of its group. The second recovers it and is stuck; the third has applied it as a
    standby."""
    lab = lab_of("avatar", seed, standbys=2)
    lab.ada.call(Mkdir("/a"))
    first = lab.active
    unheard = lab.cluster.hold(
        lambda sender, receiver, message: receiver == first and type(message) is JournalWritten
    )
    lab.begin(lab.ada, Mkdir("/b"))
    lab.cluster.run_until(lambda: bool(unheard.messages), 10 * SECOND)
    lab.faults.crash(first)
    unheard.drop()
    stuck = lab.cluster.hold(
        lambda sender, receiver, message: sender != first and type(message) is WriteJournal
    )
    lab.cluster.run_until(lambda: bool(stuck.messages), 60 * SECOND)
    second = stuck.messages[0][0]
    lab.run_ms(8_000)
    lab.faults.crash(second)
    stuck.drop()
    lab.run_ms(20_000)
    lab.finish()
    assert lab.broken() == {} and lab.invariants.unjudged == []
    numbers = sorted({s.event.sn for s in lab.cluster.events if type(s.event) is Committed})
    assert numbers == list(range(1, numbers[-1] + 1))


@pytest.mark.parametrize("seed", range(3))
def test_however_slow_coordination_is_the_bookies_are_asked(seed: int) -> None:
    """The reads and writes before it take longer than their timeout."""
    lab = lab_of("bookkeeper", seed, standbys=2, timing=Timing(heartbeat_ms=100, session_timeout_ms=1_500))
    lab.ada.call(Mkdir("/a"))
    lab.faults.crash(lab.active)
    for name, server in lab.cluster.servers.items():
        if server.group and server.process == "running":
            lab.faults.delay(name, "coordination", ms=180)
    lab.await_next_active()
    lab.eve.call(Stat("/a"))
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("number", range(3))
def test_a_bookie_is_replaced_while_a_ledger_is_closed(number: int) -> None:
    """It has another disk by then; the timeout for it is longer than a session."""
    timing = Timing(heartbeat_ms=200, session_timeout_ms=1_000, ack_timeout_ms=1_200)
    lab = lab_of("bookkeeper", 1, standbys=2, timing=timing, journal=ledgers_on(4, 3, 2, 2))
    lab.ada.call(Mkdir("/a"))
    used: list[str] = []
    lab.cluster.hold(
        lambda sender, receiver, message: type(message) is AddEntry and used.append(receiver) is not None
    )
    for name in ("b", "c", "d"):
        lab.ada.call(Mkdir(f"/{name}"))
    lab.faults.new_disk(sorted(set(used))[number])
    lab.faults.crash(lab.active)
    lab.await_next_active()
    lab.eve.call(Stat("/d"))
    lab.finish()
    assert lab.broken() == {}
