"""`cfs-fig8a`: latency of journal records of 1 KB at rising rates, by the mechanism that makes them safe (CFS §5.2, Fig. 8a).

On real processes. Records go straight into the journal of the active. The mechanisms take turns, each time with a cluster of their own.
"""

from __future__ import annotations

import asyncio
import sys
from statistics import median

import msgspec
import uvloop

from backend.fabrics.fabric import ClusterFabric
from benchmarks._cluster import cluster, group_of
from benchmarks._model import Chart, Experiment, ExperimentOutcome
from nodes.config import ClusterConfig

BYTES = 1_000
RATES = (1_000, 10_000, 25_000)
SECONDS = 2.0
ROUNDS = 5
LOG_BYTES = 1 << 33
"""Log size that no run reaches, so that no server writes an image; `bench image` measures what images cost."""
KEPT_UP = 0.95
"""Least share of the offered rate at which a mechanism counts as keeping up."""
MECHANISMS: dict[str, tuple[str, int]] = {
    "none": ("single", 0),
    "ssp": ("mams", 2),
    "ssp_without_acks": ("backupnode", 2),
    "qjm": ("qjm", 1),
    "bookkeeper": ("bookkeeper", 1),
    "two_phase": ("2pc", 2),
}
"""Family and standbys by name in the figures: three copies of the journal, except for `none`."""
COMPARED = ("qjm", "bookkeeper", "two_phase")
PAPER = {
    "qjm_over_ssp": 1.31,
    "bookkeeper_over_ssp": 1.68,
    "two_phase_over_ssp": 4.0,
    "qjm_over_ssp_25k": 1.31,
    "bookkeeper_over_ssp_25k": 1.68,
}
"""Paper's ratios: `23.46 and 40.51 percent` less latency at 25,000 a second, and `4 times` at no particular rate."""


class Load(msgspec.Struct, frozen=True):
    """One mechanism at one rate."""

    mean_ms: float
    """Mean time from a record to its commit."""
    per_s: float
    """Records that became safe; the offered rate where the mechanism kept up."""
    flush_ms: float
    """Mean of a group of records, from its closing to its commit: what Hadoop calls a flush."""


Curves = dict[str, dict[int, list[Load]]]
"""Loads of each round, by mechanism and rate."""


def config_of(mechanism: str) -> ClusterConfig:
    protocol, standbys = MECHANISMS[mechanism]
    return group_of(protocol, standbys, image_every=0, log_bytes=LOG_BYTES)


async def load(fabric: ClusterFabric, rate: int, seconds: float, size: int = BYTES) -> Load:
    """Raises RuntimeError when the active refused."""
    active = next(server.name for server in fabric.picture.servers.values() if server.believes == "active")
    count = max(1, int(rate * seconds))
    question = {"do": "load_journal", "rate": rate, "count": count, "size": size}
    clock = asyncio.get_running_loop().time
    began_s = clock()
    reported = await fabric.ask(active, question, timeout_s=60.0 + 20 * seconds)
    if "mean_ms" not in reported:
        raise RuntimeError(f"{active} at {rate} records a second: {reported.get('refused', reported)}")
    return Load(float(reported["mean_ms"]), count / (clock() - began_s), float(reported["flush_ms"]))


async def measure(rounds: int, rates: tuple[int, ...], seconds: float, mechanisms: tuple[str, ...]) -> Curves:
    """Measures every mechanism in each round; the rounds alternate the order."""
    curves: Curves = {name: {rate: [] for rate in rates} for name in mechanisms}
    for number in range(rounds):
        for name in mechanisms[:: -1 if number % 2 else 1]:
            async with cluster(lambda stamped: None, config=config_of(name)) as bench:
                await load(bench.fabric, rates[0], min(0.5, seconds))
                for rate in rates:
                    curves[name][rate].append(await load(bench.fabric, rate, seconds))
            print(f"round {number + 1} of {rounds}: {name}", file=sys.stderr)
    return curves


def medians(curves: Curves) -> dict[str, dict[int, Load]]:
    return {
        name: {
            rate: Load(
                median(each.mean_ms for each in loads),
                median(each.per_s for each in loads),
                median(each.flush_ms for each in loads),
            )
            for rate, loads in by.items()
        }
        for name, by in curves.items()
    }


def figures_of(curves: Curves) -> dict[str, float]:
    """Ratios of medians; a ratio without a rate is the least of all rates."""
    found = medians(curves)
    figures: dict[str, float] = {}
    for name in COMPARED:
        ratios = {
            rate: found[name][rate].mean_ms / reported.mean_ms
            for rate, reported in found["ssp"].items()
            if name in found
        }
        if ratios:
            figures[f"{name}_over_ssp"] = min(ratios.values())
            figures |= {f"{name}_over_ssp_{rate // 1000}k": ratio for rate, ratio in ratios.items()}
    for name, by in found.items():
        figures |= {f"{name}_ms_mean_{rate // 1000}k": reported.mean_ms for rate, reported in by.items()}
        figures |= {f"{name}_flush_ms_{rate // 1000}k": reported.flush_ms for rate, reported in by.items()}
    return {key: round(value, 3) for key, value in figures.items()}


def saturation(curves: Curves) -> list[str]:
    """One line for each mechanism about the rates that it did not keep up with."""
    return [
        f"{name} saturates: {reported.per_s:.0f} records a second became safe of {rate} offered."
        for name, by in medians(curves).items()
        for rate, reported in by.items()
        if reported.per_s < KEPT_UP * rate
    ]


def chart_of(curves: Curves) -> Chart:
    series = {
        name: [(float(rate), reported.mean_ms) for rate, reported in by.items()]
        for name, by in medians(curves).items()
    }
    return Chart(
        "Journal records of 1 KB, three replicas",
        "records per second",
        "mean latency in milliseconds",
        series,
        logarithmic=True,
    )


def run(quick: bool) -> ExperimentOutcome:
    rounds, rates, seconds = (1, RATES[:1], 0.3) if quick else (ROUNDS, RATES, SECONDS)
    mechanisms = ("ssp", "two_phase") if quick else tuple(MECHANISMS)
    curves = uvloop.run(measure(rounds, rates, seconds, mechanisms))
    config = {
        "fabric": "processes",
        "size": BYTES,
        "rates": rates,
        "seconds": seconds,
        "rounds": rounds,
        "replicas": 3,
    }
    return ExperimentOutcome(config, figures_of(curves), PAPER, chart_of(curves), [NOTE, *saturation(curves)])


NOTE = (
    "X_over_ssp is the least of all rates. Every record is on a majority's disk before it counts (the paper flushes later), but for `none` and "
    "`ssp_without_acks`."
)

EXPERIMENTS = [
    Experiment(
        "cfs-fig8a", "CFS §5.2, Fig. 8a", "what it takes to make journal records safe, at rising rates", run
    )
]
