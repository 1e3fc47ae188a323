"""A small word count by Dask over files of a cluster on processes."""

from __future__ import annotations

from benchmarks.experiments.registry import experiment_named


def test_a_word_count_ends_with_the_right_counts_although_the_active_dies() -> None:
    outcome = experiment_named("cfs-fig14").run(True)
    assert all(outcome.figures[key] == at for key, at in outcome.paper.items())
    assert outcome.figures["longer_by_s"] > 0
    assert set(outcome.chart.series) == {
        f"{phase}, {word}" for phase in ("map", "reduce") for word in ("no failure", "the active dies")
    }
