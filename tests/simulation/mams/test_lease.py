"""The end of a lease has its own event, once, and so has its renewal (safety rule 16)."""

from __future__ import annotations

from nodes.trace.lease_events import LeaseConfirmed, LeaseLost
from tests.simulation.mams.lab import Lab


def reported(lab: Lab, kind: type) -> list[str]:
    return [stamped.server for stamped in lab.cluster.events if type(stamped.event) is kind]


def test_an_active_that_nobody_asks_reports_that_it_answers_nobody() -> None:
    lab = Lab(1)
    active, timing = lab.active, lab.cluster.config.timing
    lab.faults.cut(active, "coordination")
    lab.run_ms(timing.session_timeout_ms * 2 // 3 + 100)
    assert reported(lab, LeaseLost) == [active] and not reported(lab, LeaseConfirmed)
    lab.faults.heal(active, "coordination")
    lab.run_ms(2 * timing.heartbeat_ms)
    assert reported(lab, LeaseConfirmed) == reported(lab, LeaseLost) and active in reported(
        lab, LeaseConfirmed
    )


def test_nothing_is_reported_while_all_is_well() -> None:
    lab = Lab(1)
    lab.run_ms(60_000)
    lab.faults.crash(lab.active)
    lab.await_next_active()
    lab.run_ms(60_000)
    assert not reported(lab, LeaseLost)
