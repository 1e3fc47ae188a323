"""`vssp-fig7-write`, `vssp-fig7-read`: images between pool nodes, by partitions and replicas, against the pipeline of HDFS (VSSP §IV.B, Fig. 7)."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks._model import Chart, Experiment, ExperimentOutcome, Point
from benchmarks.image import MIB, PoolProcess, running

INODES = 300_000
ROUNDS = 3
PARTITIONS = (1, 2, 4, 8)
NODES = ("n1", "n2", "n3", "n4")
READER = "n5"
PAPER_WRITE = {
    "gain_2_partitions": 0.6108,
    "gain_4_partitions": 0.8995,
    "gain_8_partitions": 1.2158,
    "loss_at_2_replicas": 0.0605,
    "loss_at_3_replicas": 0.0312,
    "loss_at_4_replicas": 0.0314,
    "write_8p_over_pipeline_4_replicas": 2.4,
}
PAPER_READ = {"gain_8_partitions": 4.3, "vssp_8p_over_nfs_like": 5.0, "vssp_1p_local_over_qjm_like": 1.0}
"""The last one is the paper's `close`."""
READS = {
    **{f"vssp_{n}p": (n, 3, False) for n in PARTITIONS},
    "vssp_1p_local": (1, 3, True),
    "vssp_8p_local": (8, 3, True),
    "nfs_like": (1, 1, False),
    "qjm_like": (1, 1, True),
}
"""Partitions, replicas, and whether the reader has a replica itself. NFS is one file on one other machine, QJM's image one file on the own disk."""

Way = tuple[str, int, int]
"""Mechanism, partitions and replicas of an image."""


def rates(ways: list[Way], quick: bool) -> dict[Way, float]:
    """Median MiB per second until all replicas are written."""
    rounds, inodes = size_of(quick)
    found: dict[Way, list[float]] = {way: [] for way in ways}
    with (
        tempfile.TemporaryDirectory(prefix="cloverlab-reproduce-") as directory,
        running(Path(directory), [*NODES, READER]) as nodes,
    ):
        nodes[NODES[0]].ask("fill", inodes=inodes)
        for number in range(rounds + 1):
            for way in ways:
                mib_per_s = one(nodes, way)
                if number or quick:
                    found[way].append(mib_per_s)
            print(f"round {number} of {rounds}", file=sys.stderr)
    return {way: median(each) for way, each in found.items()}


def one(nodes: dict[str, PoolProcess], way: Way) -> float:
    strategy, partitions, replicas = way
    holders = list(NODES[:replicas])
    reported: dict[str, Any] = nodes[NODES[0]].ask(
        "write", strategy=strategy, partitions=partitions, replicas=holders
    )
    return float(reported["size"] / MIB / reported["replicated_s"])


def size_of(quick: bool) -> tuple[int, int]:
    """Numbers of rounds and inodes."""
    return (1, 5_000) if quick else (ROUNDS, INODES)


def config_of(quick: bool) -> dict[str, object]:
    rounds, inodes = size_of(quick)
    return {"fabric": "processes", "inodes": inodes, "rounds": rounds}


def write(quick: bool) -> ExperimentOutcome:
    most = 2 if quick else len(NODES)
    vssp = {
        (n, r): ("vssp", n, r) for n in PARTITIONS for r in range(1, most + 1) if r in (1, most) or n == 8
    }
    pipeline = {r: ("hdfs_pipeline", 1, r) for r in range(1, most + 1)}
    reported = rates([*vssp.values(), *pipeline.values()], quick)
    alone = reported[vssp[1, 1]]
    figures = {f"gain_{n}_partitions": reported[vssp[n, 1]] / alone - 1 for n in PARTITIONS[1:]}
    figures |= {
        f"loss_at_{r}_replicas": 1 - reported[vssp[8, r]] / reported[vssp[8, r - 1]]
        for r in range(2, most + 1)
    }
    figures[f"write_8p_over_pipeline_{most}_replicas"] = reported[vssp[8, most]] / reported[pipeline[most]]
    figures["mb_per_s_8p_1_replica"] = reported[vssp[8, 1]]
    series: dict[str, list[Point]] = {
        f"{n} partitions": [(float(r), reported[way]) for (parts, r), way in vssp.items() if parts == n]
        for n in PARTITIONS
    }
    series["pipeline"] = [(float(r), reported[way]) for r, way in pipeline.items()]
    chart = Chart("Writing an image", "replicas", "MiB per second", series)
    rounded = {key: round(value, 3) for key, value in figures.items()}
    return ExperimentOutcome(config_of(quick), rounded, PAPER_WRITE, chart, [LIMIT])


def read_rates(quick: bool) -> dict[str, float]:
    """Median MiB per second until the namespace is complete, by way of reading."""
    rounds, inodes = size_of(quick)
    found: dict[str, list[float]] = {name: [] for name in READS}
    with (
        tempfile.TemporaryDirectory(prefix="cloverlab-reproduce-") as directory,
        running(Path(directory), [*NODES, READER]) as nodes,
    ):
        nodes[NODES[0]].ask("fill", inodes=inodes)
        for number in range(rounds + 1):
            for name, way in READS.items():
                mib_per_s = one_read(nodes, *way)
                if number or quick:
                    found[name].append(mib_per_s)
            print(f"round {number} of {rounds}", file=sys.stderr)
    return {name: median(each) for name, each in found.items()}


def one_read(nodes: dict[str, PoolProcess], partitions: int, replicas: int, local: bool) -> float:
    writer, holders = nodes[NODES[0]], list(NODES[:replicas])
    reported = writer.ask("write", strategy="vssp", partitions=partitions, replicas=holders)
    seconds = writer.ask("load")["s"] if local else nodes[READER].ask("read", sources=holders)["s"]
    return float(reported["size"] / MIB / seconds)


def read(quick: bool) -> ExperimentOutcome:
    reported = read_rates(quick)
    remote = [(n, reported[f"vssp_{n}p"]) for n in PARTITIONS]
    figures = {f"gain_{n}_partitions": rate / reported["vssp_1p"] - 1 for n, rate in remote[1:]}
    figures |= {
        "vssp_8p_over_nfs_like": reported["vssp_8p"] / reported["nfs_like"],
        "vssp_8p_local_over_nfs_like": reported["vssp_8p_local"] / reported["nfs_like"],
        "vssp_1p_local_over_qjm_like": reported["vssp_1p_local"] / reported["qjm_like"],
        "vssp_8p_over_qjm_like": reported["vssp_8p"] / reported["qjm_like"],
    }
    figures |= {f"mb_per_s_{name.removeprefix('vssp_')}": rate for name, rate in reported.items()}
    series: dict[str, list[Point]] = {"vssp, three replicas": [(float(n), rate) for n, rate in remote]}
    series |= {name: [(float(n), reported[name]) for n in PARTITIONS] for name in ("nfs_like", "qjm_like")}
    chart = Chart("Reading an image", "partitions", "MiB per second", series)
    rounded = {key: round(value, 3) for key, value in figures.items()}
    return ExperimentOutcome(config_of(quick), rounded, PAPER_READ, chart, [LIMIT, BASELINES])


LIMIT = (
    "The paper had 20 nodes with a disk and a network card each. Here all pool nodes share this machine, and one processor that makes or loads "
    "the rows of the namespace limits both, so that partitions, which divide disks and networks, gain little."
)

BASELINES = (
    "nfs_like: one file from one other node; qjm_like: one file from the own disk. Both are our own image code with one partition and one replica, "
    "without NFS's mount and QJM's edit logs."
)

EXPERIMENTS = [
    Experiment("vssp-fig7-write", "VSSP §IV.B, Fig. 7", "writing an image by partitions and replicas", write),
    Experiment(
        "vssp-fig7-read",
        "VSSP §IV.B, Fig. 7",
        "reading an image by partitions, beside one file on NFS or on the own disk",
        read,
    ),
]
