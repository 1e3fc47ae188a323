"""`cfs-fig8d`, `vssp-fig6c`: reading a journal from the own disk and from another server, over its size (CFS §5.2, Fig. 8d; VSSP §IV.A, Fig. 6c).
On real processes."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import mean, median

import uvloop

from backend.fabrics.faults import FaultInjection
from backend.fabrics.home import Home
from backend.fabrics.launch import server_directory
from backend.fabrics.processes import ProcessFabric
from backend.fabrics.watched_cluster import wait_until
from benchmarks._journals import JournalBook, make_files
from benchmarks._model import Chart, Experiment, ExperimentOutcome, Point
from nodes.config import Knobs, Timing, one_group
from nodes.real.turn import Turn
from nodes.trace.events import Applied, Serving, Stamped, Started, StepTaken

MB = 1_000_000
SIZES_MB = (2.5, 5.0, 10.0, 20.0)
FILES_PER_DIRECTORY = 50
ROUNDS = 3
OWNER, READER = "mds1", "mds2"
"""The server with the journal, and the one that has nothing and reads it."""
LONG_S = 120.0
KNOBS = Knobs(direct_groups=1)
"""The reader asks for the journal itself, however short it is."""
PAPER = {"remote_slower": 0.1959}

Seconds = tuple[float, float]
"""Local and remote."""


class JournalReadTimes:
    """Times of both readings."""

    def __init__(self) -> None:
        self.started_ns = self.applied_ns = self.opened_ns = self.read_ns = 0
        self.serving = False
        self.digests: dict[str, int] = {}

    def on_events(self, events: list[Stamped]) -> None:
        for stamped in events:
            self._on_event(stamped.server, stamped.event, stamped.at_ns)

    def _on_event(self, server: str, event: object, at_ns: int) -> None:
        if type(event) is Applied:
            self.digests[server] = event.digest
            if server == READER:
                self.read_ns = at_ns
            elif not self.serving:
                self.applied_ns = at_ns
        elif type(event) is Started and server == OWNER:
            self.started_ns, self.serving = at_ns, False
        elif type(event) is Serving and server == OWNER:
            self.serving = True
        elif type(event) is StepTaken and (event.procedure, event.step) == ("renewing", "open"):
            self.opened_ns = at_ns


async def read(directory: Path, mb: float) -> Seconds:
    """Reads a journal of `mb` megabytes both ways. Raises OSError when the states differ."""
    seen = JournalReadTimes()
    config = one_group(
        1,
        image_every=0,
        image_gap=1_000_000,
        min_in_step=1,
        knobs=KNOBS,
        timing=Timing(session_timeout_ms=2_000),
    )
    fabric = ProcessFabric(Home.make(directory, config), seen.on_events, None)
    faults = FaultInjection(fabric)
    try:
        await fabric.start()
        await until(fabric.settled)
        for name in (READER, OWNER):
            await faults.do("crash", [name])
        await faults.do("new_disk", [READER])
        book = JournalBook(server_directory(fabric.home, OWNER), 1, Turn(asyncio.get_running_loop()))
        make_files(book, FILES_PER_DIRECTORY, lambda: book.size >= mb * MB)
        await book.close()
        digest = book.namespace.digest
        await faults.do("restart", [OWNER])
        await until(lambda: seen.serving)
        if seen.digests[OWNER] != digest:
            raise OSError(f"{OWNER} read the state {seen.digests[OWNER]:x}; its journal leads to {digest:x}")
        await faults.do("restart", [READER])
        await until(fabric.settled)
    finally:
        await fabric.stop()
        fabric.home.close()
    if seen.digests[OWNER] != seen.digests[READER]:
        raise OSError(f"{READER} read another state than {OWNER}")
    return (seen.applied_ns - seen.started_ns) / 1e9, (seen.read_ns - seen.opened_ns) / 1e9


async def until(true: Callable[[], bool]) -> None:
    """Raises TimeoutError."""
    if not await wait_until(true, LONG_S):
        raise TimeoutError(f"the journal was not read within {LONG_S:.0f} s")


def measured(sizes: tuple[float, ...], rounds: int) -> dict[float, Seconds]:
    """Medians by size in MB."""
    found: dict[float, list[Seconds]] = {mb: [] for mb in sizes}
    for number in range(rounds):
        for mb in sizes:
            with tempfile.TemporaryDirectory(
                prefix="cloverlab-reproduce-", dir=os.environ.get("TMPDIR")
            ) as there:
                found[mb].append(uvloop.run(read(Path(there), mb)))
            print(f"round {number + 1} of {rounds}, {mb} MB: {found[mb][-1]}", file=sys.stderr)
    return {
        mb: (median(own for own, _ in each), median(far for _, far in each)) for mb, each in found.items()
    }


def run(quick: bool) -> ExperimentOutcome:
    sizes, rounds = ((0.5,), 1) if quick else (SIZES_MB, ROUNDS)
    found = measured(sizes, rounds)
    figures = {f"remote_slower_{mb:g}mb": round(far / own - 1, 3) for mb, (own, far) in found.items()}
    figures["remote_slower"] = round(mean(far / own for own, far in found.values()) - 1, 3)
    for mb, (own, far) in found.items():
        figures |= {
            f"local_mb_per_s_{mb:g}mb": round(mb / own, 2),
            f"remote_mb_per_s_{mb:g}mb": round(mb / far, 2),
        }
    series: dict[str, list[Point]] = {
        name: [(mb, each[place]) for mb, each in found.items()]
        for place, name in enumerate(("local", "remote"))
    }
    chart = Chart("Reading a journal", "MB of journal", "seconds", series)
    config = {"fabric": "processes", "sizes_mb": list(sizes), "rounds": rounds}
    return ExperimentOutcome(config, figures, PAPER, chart, [NOTE])


NOTE = (
    "Both times include replay. The paper's remote reader only replays; ours is a junior that also writes every group to its own disk, "
    "and both servers share this machine's processors and disk."
)

EXPERIMENTS = [
    Experiment(name, paper, "reading a journal from the own disk and from another server", run)
    for name, paper in (("cfs-fig8d", "CFS §5.2, Fig. 8d"), ("vssp-fig6c", "VSSP §IV.A, Fig. 6c"))
]
