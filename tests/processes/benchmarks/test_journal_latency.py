"""`cfs-fig8a`, small: two mechanisms at one rate on real processes."""

from __future__ import annotations

import pytest

from benchmarks.experiments import journal_latency


def test_two_mechanisms_are_measured_side_by_side() -> None:
    """The test does not compare speeds: a third of a second on a busy machine shows nothing."""
    outcome = journal_latency.run(True)
    figures = outcome.figures
    ratio = figures["two_phase_ms_mean_1k"] / figures["ssp_ms_mean_1k"]
    assert figures["two_phase_over_ssp"] == figures["two_phase_over_ssp_1k"] == pytest.approx(ratio, rel=0.01)
    assert set(outcome.chart.series) == {"ssp", "two_phase"}
