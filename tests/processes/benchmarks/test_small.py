"""Small experiments on processes: every figure is there and above zero."""

from __future__ import annotations

import pytest

from benchmarks.experiments.registry import experiment_named
from tests.chosen import only_full


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("cfs-fig8b", {"ms_mean_512", "ms_mean_32768"}),
        ("cfs-fig8d", {"local_mb_per_s_0.5mb", "remote_mb_per_s_0.5mb"}),
        ("cfs-table2", {"mams_s_least", "mams_s_mean"}),
        ("vssp-table1", {"image_over_journal_most", "bytes_per_record_least"}),
        ("vssp-fig8b", {"s_5pct", "s_100pct"}),
        *only_full(
            ("vssp-fig7-read", {"mb_per_s_1p", "vssp_8p_over_nfs_like", "vssp_1p_local_over_qjm_like"})
        ),
    ],
)
def test_it_runs(name: str, figures: set[str]) -> None:
    outcome = experiment_named(name).run(True)
    assert figures <= set(outcome.figures) and all(outcome.figures[key] > 0 for key in figures)
    assert set(outcome.paper) & set(outcome.figures)
