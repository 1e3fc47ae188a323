"""`cfs-fig8a`: latency of journal records of 1 KB at rising rates, by the mechanism that makes them safe (CFS §5.2, Fig. 8a).

On real processes. Records are put straight into the journal of whoever leads, in turn for every mechanism, in a cluster of its own each time.
"""

from __future__ import annotations

import asyncio
import sys
from statistics import median

import msgspec
import uvloop

from backend.experiments.model import Chart, Experiment, Outcome
from backend.fabrics.fabric import ClusterFabric
from benchmarks.running import cluster, group_of
from nodes.config import ClusterConfig

OCTETS = 1_000
RATES = (1_000, 10_000, 25_000)
SECONDS = 2.0
ROUNDS = 5
LOG_OCTETS = 1 << 33
"""So much that nobody takes an image: what a checkpoint costs is another experiment (`bench image`)."""
KEPT_UP = 0.95
"""Share of the offered rate from which on a mechanism counts as having kept up with it."""
MECHANISMS: dict[str, tuple[str, int]] = {
    "none": ("single", 0),
    "ssp": ("mams", 2),
    "ssp_without_acks": ("backupnode", 2),
    "qjm": ("qjm", 1),
    "bookkeeper": ("bookkeeper", 1),
    "two_phase": ("2pc", 2),
}
"""Name in the figures to family and standbys: three copies of the journal, but for `none`."""
COMPARED = ("qjm", "bookkeeper", "two_phase")
PAPER = {
    "qjm_over_ssp": 1.31,
    "bookkeeper_over_ssp": 1.68,
    "two_phase_over_ssp": 4.0,
    "qjm_over_ssp_25k": 1.31,
    "bookkeeper_over_ssp_25k": 1.68,
}
"""From `23.46 and 40.51 percent` less latency at 25,000 a second, and `4 times` at no particular rate."""


class Load(msgspec.Struct, frozen=True):
    """One mechanism at one rate."""

    mean_ms: float
    """From a record to its commit."""
    per_s: float
    """Records that became safe; the offered rate where the mechanism kept up."""
    flush_ms: float
    """Mean of a group of records, from its closing to its commit: what Hadoop calls a flush."""


Curves = dict[str, dict[int, list[Load]]]
"""By mechanism and rate, a load of each round."""


def config_of(mechanism: str) -> ClusterConfig:
    protocol, standbys = MECHANISMS[mechanism]
    return group_of(protocol, standbys, image_every=0, log_octets=LOG_OCTETS)


async def load(fabric: ClusterFabric, rate: int, seconds: float, octets: int = OCTETS) -> Load:
    """Raises RuntimeError when the active refused."""
    active = next(server.name for server in fabric.picture.servers.values() if server.believes == "active")
    count = max(1, int(rate * seconds))
    question = {"do": "load_journal", "rate": rate, "count": count, "octets": octets}
    clock = asyncio.get_running_loop().time
    began_s = clock()
    told = await fabric.ask(active, question, timeout_s=60.0 + 20 * seconds)
    if "mean_ms" not in told:
        raise RuntimeError(f"{active} at {rate} records a second: {told.get('refused', told)}")
    return Load(float(told["mean_ms"]), count / (clock() - began_s), float(told["flush_ms"]))


async def measure(rounds: int, rates: tuple[int, ...], seconds: float, mechanisms: tuple[str, ...]) -> Curves:
    """Every mechanism in turn in each round, whose order alternates."""
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
    """Ratios are of medians; those without a rate are the least of all rates."""
    found = medians(curves)
    figures: dict[str, float] = {}
    for name in COMPARED:
        ratios = {
            rate: found[name][rate].mean_ms / told.mean_ms
            for rate, told in found["ssp"].items()
            if name in found
        }
        if ratios:
            figures[f"{name}_over_ssp"] = min(ratios.values())
            figures |= {f"{name}_over_ssp_{rate // 1000}k": ratio for rate, ratio in ratios.items()}
    for name, by in found.items():
        figures |= {f"{name}_ms_mean_{rate // 1000}k": told.mean_ms for rate, told in by.items()}
        figures |= {f"{name}_flush_ms_{rate // 1000}k": told.flush_ms for rate, told in by.items()}
    return {key: round(value, 3) for key, value in figures.items()}


def saturation(curves: Curves) -> list[str]:
    """What each mechanism did where it did not keep up."""
    return [
        f"{name} saturates: {told.per_s:.0f} records a second became safe of {rate} offered."
        for name, by in medians(curves).items()
        for rate, told in by.items()
        if told.per_s < KEPT_UP * rate
    ]


def chart_of(curves: Curves) -> Chart:
    series = {
        name: [(float(rate), told.mean_ms) for rate, told in by.items()]
        for name, by in medians(curves).items()
    }
    return Chart(
        "Journal records of 1 KB, three replicas",
        "records per second",
        "mean latency in milliseconds",
        series,
        logarithmic=True,
    )


def run(quick: bool) -> Outcome:
    rounds, rates, seconds = (1, RATES[:1], 0.3) if quick else (ROUNDS, RATES, SECONDS)
    mechanisms = ("ssp", "two_phase") if quick else tuple(MECHANISMS)
    curves = uvloop.run(measure(rounds, rates, seconds, mechanisms))
    config = {
        "fabric": "processes",
        "octets": OCTETS,
        "rates": rates,
        "seconds": seconds,
        "rounds": rounds,
        "replicas": 3,
    }
    return Outcome(config, figures_of(curves), PAPER, chart_of(curves), [NOTE, *saturation(curves)])


NOTE = (
    "X_over_ssp is the least of all rates. Every record is on a majority's disk before it counts (the paper flushes later), but for `none` and "
    "`ssp_without_acks`."
)

EXPERIMENTS = [
    Experiment(
        "cfs-fig8a", "CFS §5.2, Fig. 8a", "what it takes to make journal records safe, at rising rates", run
    )
]
