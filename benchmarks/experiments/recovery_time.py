"""`s2pc-table4`, `s2pc-table5`: recovery time over the size of the log and over the undecided operations in it (DCFS2 §5.2.2)."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.experiments.model import Chart, Experiment, Outcome
from benchmarks.recovery import SIZES_MB, SOME, TABLE4_S, TABLE5_S, UNDECIDED, Measured, rows_of

ROUNDS = 3


def measured(wanted: list[tuple[int, int]], quick: bool) -> dict[tuple[int, int], Measured]:
    """Medians by (MB, undecided operations); a small run has only the first and the last."""
    with tempfile.TemporaryDirectory(prefix="cloverlab-reproduce-") as directory:
        return rows_of(
            Path(directory), wanted[:: len(wanted) - 1] if quick else wanted, 1 if quick else ROUNDS
        )


def outcome(
    seconds: dict[int, float],
    reported: dict[int, float],
    unit: str,
    ratio: tuple[int, int],
    chart: Chart,
    rounds: int,
) -> Outcome:
    """The outcome of a table. `reported` has the paper's seconds; `ratio` names the two rows whose quotient is a figure."""
    large, small = ratio
    figures = {f"s_{key}{unit}": round(s, 3) for key, s in seconds.items()}
    paper = {f"s_{key}{unit}": reported[key] for key in seconds}
    if large in seconds and small in seconds:
        key = f"{large}{unit}_over_{small}{unit}"
        figures[key] = round(seconds[large] / seconds[small], 2)
        paper[key] = round(reported[large] / reported[small], 2)
    return Outcome({"fabric": "processes", "groups": 2, "rounds": rounds}, figures, paper, chart, [NOTE])


def table4(quick: bool) -> Outcome:
    rows = measured([(mb, SOME) for mb in SIZES_MB], quick)
    seconds = {mb: row.recovery_s for (mb, _), row in rows.items()}
    series = {"recovery": [(float(mb), s) for mb, s in seconds.items()]}
    chart = Chart("Recovery over the size of the log", "MB of log", "seconds", series)
    return outcome(seconds, TABLE4_S, "mb", (50, 10), chart, 1 if quick else ROUNDS)


def table5(quick: bool) -> Outcome:
    rows = measured([(10, count) for count in UNDECIDED.values()], quick)
    shares = {count: share for share, count in UNDECIDED.items()}
    seconds = {shares[count]: row.recovery_s for (_, count), row in rows.items()}
    series = {"recovery": [(float(share), s) for share, s in seconds.items()]}
    chart = Chart("Recovery over undecided operations", "per cent of the records", "seconds", series)
    return outcome(
        seconds,
        TABLE5_S,
        "pct",
        (10, 1),
        chart,
        1 if quick else ROUNDS,
    )


NOTE = "Ours is without the wait for the end of the crashed server's session, which is detection and no work."

EXPERIMENTS = [
    Experiment("s2pc-table4", "DCFS2 §5.2.2, Table 4", "recovery over the size of the log", table4),
    Experiment("s2pc-table5", "DCFS2 §5.2.2, Table 5", "recovery over undecided operations", table5),
]
