"""Latency of journal records of 1 KB at rising rates, by the mechanism that makes them safe (CFS §5.2, Fig. 8a)."""

from __future__ import annotations

import sys
from statistics import median
from typing import Any

import uvloop

from backend.fabrics.fabric import ClusterFabric
from benchmarks.running import cluster, report
from nodes.config import ClusterConfig, JournalConfig, one_group
from nodes.families import family_named

OCTETS = 1_000
RATES = (1_000, 5_000, 10_000, 25_000)
COMPARED_AT = 10_000
SECONDS = 2.0
ROUNDS = 3
MECHANISMS: dict[str, tuple[str, int]] = {
    "none": ("single", 0),
    "ssp": ("mams", 2),
    "ssp_without_acks": ("backupnode", 2),
    "qjm": ("qjm", 1),
    "bookkeeper": ("bookkeeper", 1),
    "two_phase": ("2pc", 2),
}
"""Name in the figures to family and standbys: three copies of the journal, but for `none`."""
PAPER = {"qjm_over_ssp": 1.31, "bookkeeper_over_ssp": 1.68, "two_phase_over_ssp": 4.0}
Curves = dict[str, dict[int, list[float]]]


def config_of(mechanism: str) -> ClusterConfig:
    protocol, standbys = MECHANISMS[mechanism]
    journal = JournalConfig(nodes=family_named(protocol).journal_names())
    return one_group(standbys, protocol=protocol, journal=journal)


async def load(fabric: ClusterFabric, rate: int, seconds: float) -> float:
    """Mean milliseconds from a record to its commit. Raises RuntimeError when the active refused."""
    active = next(server.name for server in fabric.picture.servers.values() if server.believes == "active")
    question = {"do": "load_journal", "rate": rate, "count": max(1, int(rate * seconds)), "octets": OCTETS}
    told = await fabric.ask(active, question, timeout_s=60.0 + 20 * seconds)
    if "mean_ms" not in told:
        raise RuntimeError(f"{active} at {rate} records a second: {told.get('refused', told)}")
    return float(told["mean_ms"])


async def measure(rounds: int, rates: tuple[int, ...], seconds: float) -> Curves:
    """Every mechanism in turn in each round, in a cluster of its own."""
    curves: Curves = {name: {rate: [] for rate in rates} for name in MECHANISMS}
    for number in range(rounds):
        for name in MECHANISMS:
            async with cluster(lambda stamped: None, config=config_of(name)) as bench:
                await load(bench.fabric, rates[0], 0.5)
                for rate in rates:
                    curves[name][rate].append(await load(bench.fabric, rate, seconds))
            print(f"round {number + 1}: {name}", file=sys.stderr)
    return curves


def figures_of(curves: Curves) -> dict[str, Any]:
    """Medians over the rounds; ratios of them where all are compared."""
    means = {name: {rate: round(median(each), 3) for rate, each in by.items()} for name, by in curves.items()}
    figures: dict[str, Any] = {f"ssp_ms_mean_{rate // 1000}k": mean for rate, mean in means["ssp"].items()}
    for name in ("qjm", "bookkeeper", "two_phase"):
        figures[f"{name}_over_ssp"] = round(means[name][COMPARED_AT] / means["ssp"][COMPARED_AT], 2)
    return {
        **figures,
        "ms_mean": {name: {str(rate): ms for rate, ms in by.items()} for name, by in means.items()},
    }


def main() -> int:
    """Prints one JSON object."""
    curves = uvloop.run(measure(ROUNDS, RATES, SECONDS))
    config = {
        "octets": OCTETS,
        "rates": RATES,
        "seconds": SECONDS,
        "rounds": ROUNDS,
        "compared_at": COMPARED_AT,
    }
    return report("journal", config, figures_of(curves), PAPER)
