"""The end of a lease is told by itself, once, and so is that it holds again (safety rule 16)."""

from __future__ import annotations

from nodes.trace.events import LeaseConfirmed, LeaseLost
from tests.simulation.mams.lab import Lab


def told(lab: Lab, kind: type) -> list[str]:
    return [stamped.server for stamped in lab.cluster.events if type(stamped.event) is kind]


def test_an_active_that_nobody_asks_tells_that_it_answers_nobody() -> None:
    lab = Lab(1)
    active, timing = lab.active, lab.cluster.config.timing
    lab.faults.cut(active, "coordination")
    lab.run_ms(timing.session_timeout_ms * 2 // 3 + 100)
    assert told(lab, LeaseLost) == [active] and not told(lab, LeaseConfirmed)
    lab.faults.heal(active, "coordination")
    lab.run_ms(2 * timing.heartbeat_ms)
    assert told(lab, LeaseConfirmed) == told(lab, LeaseLost) and active in told(lab, LeaseConfirmed)


def test_nothing_is_told_while_all_is_well() -> None:
    lab = Lab(1)
    lab.run_ms(60_000)
    lab.faults.crash(lab.active)
    lab.await_next_active()
    lab.run_ms(60_000)
    assert not told(lab, LeaseLost)
