"""Ratios and medians of the journal benchmark."""

from __future__ import annotations

from benchmarks.journal import COMPARED_AT, MECHANISMS, RATES, config_of, figures_of


def test_ratios_are_taken_of_medians_where_all_are_compared() -> None:
    curves = {name: {rate: [1.0, 2.0, 90.0] for rate in RATES} for name in MECHANISMS}
    curves["two_phase"][COMPARED_AT] = [5.0, 6.0, 7.0]
    figures = figures_of(curves)
    assert figures["two_phase_over_ssp"] == 3.0 and figures["qjm_over_ssp"] == 1.0
    assert figures["ssp_ms_mean_1k"] == figures["ssp_ms_mean_25k"] == 2.0
    assert figures["ms_mean"]["two_phase"][str(COMPARED_AT)] == 6.0


def test_every_mechanism_keeps_three_copies_but_one() -> None:
    for name in MECHANISMS:
        config = config_of(name)
        copies = min(3, max(len(config.groups[0].members), len(config.journal.nodes)))
        assert copies == (1 if name == "none" else 3)
