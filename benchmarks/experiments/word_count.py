"""`cfs-fig14`: a word count by Dask over our own files while the active dies (CFS §5.7, Fig. 14). On real processes."""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

import msgspec
import uvloop

from backend.errors import ClusterCannotStart
from benchmarks._cluster import Bench, cluster
from benchmarks._model import Chart, Experiment, ExperimentOutcome, Point
from benchmarks._word_count import JobFileSystem, counts_of, make_input, map_one, reduce_one, results, text_of
from nodes.config import DataConfig, Timing, one_group

STANDBYS, DATA_NODES = 3, 3
WORKERS = 2
ROUNDS = 3
DEATH = 0.3
"""Share of the map tasks that are done when the active dies."""
TIMING = Timing(heartbeat_ms=2_000, session_timeout_ms=5_000)
"""Timeouts of the paper."""
TASK_S = 300.0
PAPER = {"job_ends": 1.0, "same_counts": 1.0}


class JobSize(msgspec.Struct, frozen=True):
    maps: int
    reducers: int
    bytes: int
    """Bytes of each input file."""


SIZE, QUICK = JobSize(24, 6, 1 << 19), JobSize(6, 2, 1 << 15)


class JobTimes(msgspec.Struct):
    """Times of the ends of tasks, in seconds since the job began."""

    maps_s: list[float] = []
    reduces_s: list[float] = []
    counts: Counter[str] = msgspec.field(default_factory=Counter)

    def ended(self, size: JobSize) -> bool:
        return (len(self.maps_s), len(self.reduces_s)) == (size.maps, size.reducers)

    @property
    def whole_s(self) -> float:
        return self.reduces_s[-1]


@contextmanager
def dask(workers: int) -> Iterator[Any]:
    """A client of a Dask cluster with so many processes on this machine. Raises ClusterCannotStart."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ClusterCannotStart(
            "cfs-fig14 needs the package distributed: the extra `dask`, or requirements-test.lock"
        ) from None
    options = {"processes": True, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with LocalCluster(n_workers=workers, **options) as local, Client(local) as client:
        yield client


def run_job(client: Any, place: JobFileSystem, size: JobSize, job: JobTimes) -> None:
    """Map, then reduce. Raises what a task raised."""
    began_s = time.monotonic()
    maps = [client.submit(map_one, place, number, size.reducers, pure=False) for number in range(size.maps)]
    _note_ends(maps, job.maps_s, began_s)
    reduces = [
        client.submit(reduce_one, place, number, size.maps, pure=False) for number in range(size.reducers)
    ]
    _note_ends(reduces, job.reduces_s, began_s)
    job.counts = results(place, size.reducers)


def _note_ends(futures: list[Any], ends_s: list[float], began_s: float) -> None:
    from distributed import as_completed

    for future in as_completed(futures, timeout=TASK_S):
        future.result()
        ends_s.append(time.monotonic() - began_s)


async def measured(client: Any, size: JobSize, dies: bool) -> JobTimes:
    """One job in a cluster of its own; the active dies during it, or not."""
    nodes = [f"dn{number}" for number in range(1, DATA_NODES + 1)]
    config = one_group(STANDBYS, timing=TIMING, data=DataConfig(nodes=nodes))
    job = JobTimes()
    async with cluster(lambda stamped: None, config=config) as bench:
        place = JobFileSystem(config, bench.fabric.home.client_keys, bench.fabric.peers())
        inputs = [
            client.submit(make_input, place, number, size.bytes, pure=False) for number in range(size.maps)
        ]
        await asyncio.to_thread(_note_ends, inputs, [], 0.0)
        running = asyncio.create_task(asyncio.to_thread(run_job, client, place, size, job))
        if dies:
            await _kill_active(bench, lambda: running.done() or len(job.maps_s) >= DEATH * size.maps)
        await running
    return job


async def _kill_active(bench: Bench, due: Callable[[], bool]) -> None:
    await bench.until(due, TASK_S)
    active = next(name for name, server in bench.fabric.picture.servers.items() if server.role == "active")
    await bench.faults.do("crash", [active])


def run(quick: bool) -> ExperimentOutcome:
    size, rounds = (QUICK, 1) if quick else (SIZE, ROUNDS)
    expected = sum((counts_of(text_of(number, size.bytes)) for number in range(size.maps)), Counter[str]())
    found: dict[bool, list[JobTimes]] = {False: [], True: []}
    with dask(WORKERS) as client:
        for number in range(rounds):
            for dies, jobs in found.items():
                jobs.append(uvloop.run(measured(client, size, dies)))
                print(f"round {number + 1} of {rounds}: {jobs[-1].whole_s:.1f} s, {dies=}", file=sys.stderr)
    whole = {dies: median(job.whole_s for job in jobs) for dies, jobs in found.items()}
    maps = {dies: median(job.maps_s[-1] for job in jobs) for dies, jobs in found.items()}
    figures = {
        "job_ends": float(all(job.ended(size) for jobs in found.values() for job in jobs)),
        "same_counts": float(all(job.counts == expected for jobs in found.values() for job in jobs)),
        "longer_by_s": round(whole[True] - whole[False], 3),
        "map_longer_by_s": round(maps[True] - maps[False], 3),
        "reduce_longer_by_s": round(whole[True] - maps[True] - (whole[False] - maps[False]), 3),
        "whole_s": round(whole[False], 3),
    }
    series: dict[str, list[Point]] = {}
    for dies, word in ((False, "no failure"), (True, "the active dies")):
        job = found[dies][-1]
        series |= {f"map, {word}": shares(job.maps_s), f"reduce, {word}": shares(job.reduces_s)}
    chart = Chart("Word count", "seconds", "per cent of the tasks", series)
    config = {
        "fabric": "processes",
        "standbys": STANDBYS,
        "data_nodes": DATA_NODES,
        "workers": WORKERS,
        "maps": size.maps,
        "reducers": size.reducers,
        "input_bytes": size.maps * size.bytes,
        "session_timeout_ms": TIMING.session_timeout_ms,
        "rounds": rounds,
    }
    return ExperimentOutcome(config, figures, PAPER, chart, [NOTE])


def shares(ends_s: list[float]) -> list[Point]:
    return [(round(s, 3), 100 * place / len(ends_s)) for place, s in enumerate(ends_s, 1)]


NOTE = (
    "The paper's job has 5 GB and 3A9S, ours what one machine holds, on 1A3S. Its comparison with Boom-FS, whose curves come from another paper, is "
    "not repeated. longer_by_s: what the death of the active adds; a session of 5 s ends 3 to 5 s after it."
)

EXPERIMENTS = [
    Experiment("cfs-fig14", "CFS §5.7, Fig. 14", "a word count by Dask while the active dies", run)
]
