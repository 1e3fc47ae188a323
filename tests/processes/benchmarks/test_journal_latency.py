"""`cfs-fig8a`, small: two mechanisms at one rate on real processes."""

from __future__ import annotations

from backend.experiments import journal_latency


def test_two_phase_commit_takes_longer_than_the_pool() -> None:
    outcome = journal_latency.run(True)
    assert outcome.figures["two_phase_over_ssp"] > 1
    assert set(outcome.chart.series) == {"ssp", "two_phase"}
