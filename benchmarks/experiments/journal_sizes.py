"""`cfs-fig8b`, `cfs-fig8c`: effect of the record size and the number of replicas on SSP's latency (CFS §5.2, Fig. 8b and 8c). On real processes."""

from __future__ import annotations

import sys
from statistics import median

import uvloop

from benchmarks._cluster import cluster
from benchmarks._model import Chart, Experiment, ExperimentOutcome
from benchmarks.experiments.journal_latency import LOG_BYTES, load
from nodes.config import ClusterConfig, one_group

SIZES = (512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768)
REPLICAS = (1, 2, 3, 4)
BYTES = 512
RATE = 1_000
SECONDS = 2.0
ROUNDS = 5
PAPER_SIZES = {"latency_32768_over_512": 20.0}
PAPER_REPLICAS = {"more_latency_at_2": 0.0281, "more_latency_at_3": 0.0262, "more_latency_at_4": 0.0295}


def config_of(replicas: int) -> ClusterConfig:
    return one_group(replicas - 1, image_every=0, log_bytes=LOG_BYTES)


async def latency(replicas: int, sizes: tuple[int, ...], seconds: float) -> list[float]:
    """Mean milliseconds from a record to its commit, by size."""
    async with cluster(lambda stamped: None, config=config_of(replicas)) as bench:
        await load(bench.fabric, RATE, min(0.5, seconds))
        return [(await load(bench.fabric, RATE, seconds, size)).mean_ms for size in sizes]


def measured(places: tuple[tuple[int, tuple[int, ...]], ...], quick: bool) -> list[list[float]]:
    """Medians for each (replicas, sizes); the rounds measure them in turn."""
    rounds, seconds = (1, 0.3) if quick else (ROUNDS, SECONDS)
    found: list[list[list[float]]] = [[] for _ in places]
    for number in range(rounds):
        for into, (replicas, sizes) in zip(found, places, strict=True):
            into.append(uvloop.run(latency(replicas, sizes, seconds)))
            print(f"round {number + 1} of {rounds}: {replicas} replicas", file=sys.stderr)
    return [[median(each) for each in zip(*rows, strict=True)] for rows in found]


def by_size(quick: bool) -> ExperimentOutcome:
    sizes = SIZES[:: len(SIZES) - 1] if quick else SIZES
    (taken,) = measured(((3, sizes),), quick)
    figures = {f"ms_mean_{size}": round(ms, 3) for size, ms in zip(sizes, taken, strict=True)}
    figures["latency_32768_over_512"] = round(taken[-1] / taken[0], 2)
    points = [(float(size), ms) for size, ms in zip(sizes, taken, strict=True)]
    chart = Chart("SSP, three replicas", "bytes of a record", "mean latency in milliseconds", {"ssp": points})
    config = {"fabric": "processes", "replicas": 3, "rate": RATE, "rounds": ROUNDS, "seconds": SECONDS}
    return ExperimentOutcome(config, figures, PAPER_SIZES, chart)


def by_replicas(quick: bool) -> ExperimentOutcome:
    replicas = REPLICAS[:2] if quick else REPLICAS
    taken = [each for (each,) in measured(tuple((number, (BYTES,)) for number in replicas), quick)]
    figures = {f"ms_mean_{number}": round(ms, 3) for number, ms in zip(replicas, taken, strict=True)}
    for place, number in enumerate(replicas[1:], 1):
        figures[f"more_latency_at_{number}"] = round(taken[place] / taken[place - 1] - 1, 4)
    points = [(float(number), ms) for number, ms in zip(replicas, taken, strict=True)]
    chart = Chart("SSP, records of 512 bytes", "replicas", "mean latency in milliseconds", {"ssp": points})
    config = {"fabric": "processes", "size": BYTES, "rate": RATE, "rounds": ROUNDS, "seconds": SECONDS}
    return ExperimentOutcome(config, figures, PAPER_REPLICAS, chart, [NOTE])


NOTE = (
    "more_latency_at_N: over one replica fewer. With one replica nobody is waited for; from the second on a record takes a message there, "
    "its disk and a message back. The replicas share this machine's processors and its disk."
)

EXPERIMENTS = [
    Experiment("cfs-fig8b", "CFS §5.2, Fig. 8b", "latency over the size of the records", by_size),
    Experiment("cfs-fig8c", "CFS §5.2, Fig. 8c", "latency over the number of replicas", by_replicas),
]
