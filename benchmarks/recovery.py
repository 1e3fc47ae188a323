"""`bench recovery`, `reproduce s2pc-table4` and `s2pc-table5`: recovery time of a metadata server over the size of its log and over the
number of undecided operations (DCFS2 §5.2.2, Tables 4 and 5)."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import correlation
from typing import Any

import msgspec
import uvloop

from backend.fabrics.faults import FaultInjection
from backend.fabrics.home import Home
from backend.fabrics.launch import server_directory
from backend.fabrics.processes import ProcessFabric
from backend.fabrics.watched_cluster import wait_until
from benchmarks._cluster import report
from benchmarks._journals import RECORDS_PER_GROUP, JournalBook, JournalPair
from benchmarks._model import Chart, Experiment, ExperimentOutcome
from nodes.config import Timing, many_groups
from nodes.real.turn import Turn
from nodes.trace.events import Applied, JournalOpened, Serving, SharedStep, Stamped, Started

MB = 1_000_000
SIZES_MB = (10, 20, 30, 40, 50)
"""Log sizes of the recovering server; the paper prunes a log at 50 MB."""
UNDECIDED = {0: 0, 1: 720, 2: 1446, 3: 2178, 4: 2912, 5: 3655, 10: 7440}
"""Undecided operations in a log of 10 MB (Table 5), by per cent of the paper's records."""
SOME = 721
"""Undecided operations in each log of Table 4, whatever its size."""
BY_SIZE = [(mb, SOME) for mb in SIZES_MB]
BY_UNDECIDED = [(10, undecided) for undecided in UNDECIDED.values()]
"""Rows of the tables, as (MB, undecided operations)."""
ROUNDS = 3
MINE, OTHER = "mds1", "mds2"
LONG_S = 120.0
TABLE4_S = {10: 4.14, 20: 7.87, 30: 11.65, 40: 15.73, 50: 19.26}
TABLE5_S = {0: 4.12, 1: 4.14, 2: 4.39, 3: 4.64, 4: 4.89, 5: 5.33, 10: 9.26}
PAPER_RECORDS_PER_S = 359_044 / 19.26


class RecoveryTimes(msgspec.Struct):
    """Times of one recovery."""

    records: int
    mb: float
    undecided: int
    read_s: float
    """Time from the start of the server until its journal is read, checked and decoded."""
    apply_s: float
    """Time from then until every record is applied to the namespace."""
    settle_s: float
    """Time from the first service until the last undecided operation is decided on disk."""

    @property
    def replay_s(self) -> float:
        return self.read_s + self.apply_s

    @property
    def recovery_s(self) -> float:
        """Recovery time without the wait for the crashed server's session to expire, which is detection."""
        return self.replay_s + self.settle_s


class RecoveryEvents:
    """Events of the recovering server since its start."""

    def __init__(self) -> None:
        self.started_ns = self.opened_ns = self.applied_ns = self.serving_ns = self.settled_ns = 0
        self.digest = 0
        self.decided = 0
        self.first_undecided = 0
        """Smallest number of an undecided operation; the log has decisions for all below it."""

    def on_events(self, events: list[Stamped]) -> None:
        for stamped in events:
            if stamped.server == MINE:
                self._on_event(stamped.event, stamped.at_ns)

    def _on_event(self, event: object, at_ns: int) -> None:
        if type(event) is Started:
            self.started_ns, self.serving_ns = at_ns, 0
        elif type(event) is JournalOpened:
            self.opened_ns = at_ns
        elif type(event) is Applied and not self.serving_ns:
            self.applied_ns, self.digest = at_ns, event.digest
        elif type(event) is Serving:
            self.serving_ns = self.settled_ns = at_ns
        elif type(event) is SharedStep and event.step == "decide" and event.seq >= self.first_undecided:
            self.settled_ns = at_ns
            self.decided += 1


async def recover(directory: Path, mb: float, undecided: int) -> RecoveryTimes:
    """Recovers the first of two groups of one server each, as in the paper. Its log is filled with `mb` megabytes while neither server runs.

    Raises OSError when the recovered state differs from the log.
    """
    seen = RecoveryEvents()
    config = many_groups(2, 0, placement="random", image_every=0, timing=Timing(session_timeout_ms=2_000))
    fabric = ProcessFabric(Home.make(directory, config), seen.on_events, None)
    faults = FaultInjection(fabric)
    try:
        await fabric.start()
        await until(fabric.settled)
        for name in (MINE, OTHER):
            await faults.do("crash", [name])
        mine, other = (
            JournalBook(server_directory(fabric.home, name), group, Turn(asyncio.get_running_loop()))
            for group, name in ((1, MINE), (2, OTHER))
        )
        seen.first_undecided = fill(mine, other, mb, undecided)
        await mine.close()
        await other.close()
        records, written_mb, digest = mine.records, mine.size / MB, mine.namespace.digest
        del mine, other
        gc.collect()
        await faults.do("restart", [OTHER])
        await until(lambda: fabric.picture.servers[OTHER].role == "active")
        seen.serving_ns = 0
        await faults.do("restart", [MINE])
        await until(lambda: seen.serving_ns > 0 and seen.decided == undecided)
    finally:
        await fabric.stop()
        fabric.home.close()
    if seen.digest != digest:
        raise OSError(f"the server recovered the state {seen.digest:x}; its log leads to {digest:x}")
    return RecoveryTimes(
        records, written_mb, undecided,
        (seen.opened_ns - seen.started_ns) / 1e9, (seen.applied_ns - seen.opened_ns) / 1e9,
        (seen.settled_ns - seen.serving_ns) / 1e9,
    )  # fmt: skip


def fill(mine: JournalBook, other: JournalBook, mb: float, undecided: int) -> int:
    """Fills the first log with `mb` megabytes and ends it with the undecided operations; returns the number of the first of these."""
    pair = JournalPair(mine, other)
    while mine.size < mb * MB:
        pair.make()
    first = mine.namespace.crossing.next_seq
    for _ in range(undecided):
        pair.make(decided=False)
    return first


async def until(true: Callable[[], bool]) -> None:
    """Raises TimeoutError."""
    if not await wait_until(true, LONG_S):
        raise TimeoutError(f"the recovery did not come to its end within {LONG_S:.0f} s")


def rows_of(wanted: list[tuple[int, int]], rounds: int = ROUNDS) -> dict[tuple[int, int], RecoveryTimes]:
    """Medians by (MB, undecided operations), chosen by recovery time; the rounds measure all rows in turn."""
    found: dict[tuple[int, int], list[RecoveryTimes]] = {row: [] for row in wanted}
    for number in range(rounds):
        for mb, undecided in wanted:
            with tempfile.TemporaryDirectory(
                prefix="cloverlab-bench-", dir=os.environ.get("TMPDIR")
            ) as there:
                each = uvloop.run(recover(Path(there), mb, undecided))
            found[mb, undecided].append(each)
            print(f"round {number + 1}/{rounds} {each}", file=sys.stderr)
    return {row: sorted(each, key=lambda one: one.recovery_s)[rounds // 2] for row, each in found.items()}


def figures_of(rows: dict[tuple[int, int], RecoveryTimes]) -> dict[str, Any]:
    """Figures of the rows by (MB, undecided operations)."""
    sizes = {mb: rows[mb, SOME] for mb in SIZES_MB}
    shares = {share: rows[10, undecided] for share, undecided in UNDECIDED.items()}
    largest = sizes[SIZES_MB[-1]]
    return {
        "records_per_s": round(largest.records / largest.replay_s),
        **{f"table4_s_{mb}mb": round(row.recovery_s, 3) for mb, row in sizes.items()},
        **{f"table5_s_{share}pct": round(row.recovery_s, 3) for share, row in shares.items()},
        **shapes(
            {mb: row.recovery_s for mb, row in sizes.items()},
            {share: row.recovery_s for share, row in shares.items()},
        ),
        "table4": [reported_of(row) for row in sizes.values()],
        "table5": [reported_of(row) for row in shares.values()],
    }


def shapes(sizes: dict[int, float], shares: dict[int, float]) -> dict[str, float]:
    """Shapes of the curves: linearity over the size, the cost of a log five times as large, and the cost of ten times as many undecided
    operations."""
    return {
        "table4_straightness": round(correlation(list(sizes), list(sizes.values())) ** 2, 4),
        "table4_50mb_over_10mb": round(sizes[50] / sizes[10], 2),
        "table5_10pct_over_1pct": round(shares[10] / shares[1], 2),
    }


def reported_of(row: RecoveryTimes) -> dict[str, float]:
    return {
        "mb": round(row.mb, 1),
        "records": row.records,
        "undecided": row.undecided,
        "read_s": round(row.read_s, 3),
        "apply_s": round(row.apply_s, 3),
        "settle_s": round(row.settle_s, 3),
    }


def main() -> int:
    """Prints one JSON object."""
    gc.set_threshold(200_000, 50, 1000)
    figures = figures_of(rows_of([*BY_SIZE, *BY_UNDECIDED]))
    paper = {
        "records_per_s": round(PAPER_RECORDS_PER_S),
        **{f"table4_s_{mb}mb": seconds for mb, seconds in TABLE4_S.items()},
        **{f"table5_s_{share}pct": seconds for share, seconds in TABLE5_S.items()},
        **shapes(TABLE4_S, TABLE5_S),
    }
    config = {"groups": 2, "servers": 2, "records_per_journal_group": RECORDS_PER_GROUP, "rounds": ROUNDS}
    return report("recovery", config, figures, paper)


def table(
    wanted: list[tuple[int, int]],
    quick: bool,
    reported: dict[int, float],
    unit: str,
    title: str,
    x_title: str,
) -> ExperimentOutcome:
    """The outcome of a table. `reported` has the paper's seconds by the rows' keys, in order; a small run has only the first and the last row."""
    ends, rounds = (slice(None, None, len(wanted) - 1), 1) if quick else (slice(None), ROUNDS)
    rows = rows_of(wanted[ends], rounds)
    keys = list(reported)[ends]
    seconds = {key: row.recovery_s for key, row in zip(keys, rows.values(), strict=True)}
    figures = {f"s_{key}{unit}": round(s, 3) for key, s in seconds.items()}
    paper = {f"s_{key}{unit}": reported[key] for key in keys}
    large, small = (50, 10) if unit == "mb" else (10, 1)
    if large in seconds and small in seconds:
        ratio = f"{large}{unit}_over_{small}{unit}"
        figures[ratio] = round(seconds[large] / seconds[small], 2)
        paper[ratio] = round(reported[large] / reported[small], 2)
    chart = Chart(title, x_title, "seconds", {"recovery": [(float(key), s) for key, s in seconds.items()]})
    return ExperimentOutcome(
        {"fabric": "processes", "groups": 2, "rounds": rounds}, figures, paper, chart, [NOTE]
    )


def table4(quick: bool) -> ExperimentOutcome:
    return table(BY_SIZE, quick, TABLE4_S, "mb", "Recovery over the size of the log", "MB of log")


def table5(quick: bool) -> ExperimentOutcome:
    title = "Recovery over undecided operations"
    return table(BY_UNDECIDED, quick, TABLE5_S, "pct", title, "per cent of the records")


NOTE = "Ours is without the wait for the end of the crashed server's session, which is detection and no work."

EXPERIMENTS = [
    Experiment("s2pc-table4", "DCFS2 §5.2.2, Table 4", "recovery over the size of the log", table4),
    Experiment("s2pc-table5", "DCFS2 §5.2.2, Table 5", "recovery over undecided operations", table5),
]
