"""Ratios, medians and saturation of `cfs-fig8a`."""

from __future__ import annotations

from benchmarks.experiments.journal_latency import (
    MECHANISMS,
    RATES,
    Load,
    config_of,
    figures_of,
    saturation,
)


def curves() -> dict[str, dict[int, list[Load]]]:
    return {
        name: {rate: [Load(ms, rate, ms / 2) for ms in (1.0, 2.0, 90.0)] for rate in RATES}
        for name in MECHANISMS
    }


def test_ratios_are_of_medians_and_the_least_of_all_rates_is_reported() -> None:
    found = curves()
    found["two_phase"] = {
        rate: [Load(place + 4.0, rate, 1.0)] * 3 for place, rate in enumerate(reversed(RATES))
    }
    figures = figures_of(found)
    assert figures["qjm_over_ssp"] == figures["bookkeeper_over_ssp"] == 1.0
    assert figures["two_phase_over_ssp"] == figures["two_phase_over_ssp_25k"] == 2.0
    assert figures["two_phase_over_ssp_1k"] == 3.0
    assert figures["ssp_ms_mean_1k"] == figures["ssp_ms_mean_10k"] == figures["ssp_ms_mean_25k"] == 2.0
    assert figures["ssp_flush_ms_10k"] == 1.0


def test_who_does_not_keep_up_is_named() -> None:
    found = curves()
    found["bookkeeper"][25_000] = [Load(5.0, 13_000, 2.0)] * 3
    assert saturation(found) == ["bookkeeper saturates: 13000 records a second became safe of 25000 offered."]


def test_every_mechanism_keeps_three_copies_but_one() -> None:
    for name in MECHANISMS:
        config = config_of(name)
        copies = min(3, max(len(config.groups[0].members), len(config.journal.nodes)))
        assert copies == (1 if name == "none" else 3)
