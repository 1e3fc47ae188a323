"""`dcfs3-create`, `dcfs3-stat`: mdtest's file creation and file stat, on one server and on three (DCFS3, metadata write and read operations).

In virtual time, with the 100 callers, the 12 client machines and the service threads of `dcfs3-packing`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import cycle
from statistics import mean

from benchmarks._model import Chart, Experiment, ExperimentOutcome, Point
from benchmarks._simulation import MESSAGE_NS, answered_in, call_on, charge, charge_writes
from benchmarks.packing import CALLERS, MACHINES, THREADS, WARM_NS, WINDOW_NS, files_of
from nodes.config import MILLISECOND, SECOND, one_group
from nodes.metadata.operations import Create, Mkdir, Operation, Stat
from nodes.sim.cluster import SimCluster

SETTINGS = {
    "single": ("single", 1, "1 server without HA"),
    "multi_paxos": ("multi-paxos", 3, "3 servers, Multi-Paxos"),
    "packed": ("packed-paxos", 3, "3 servers, packed"),
}
"""Family, number of servers, and name in the chart."""
SEEDS = (1, 2, 3)
Operations = Callable[[int], Iterator[Operation]]


def per_s(setting: str, operations_of: Operations, seed: int, window_ns: int = WINDOW_NS) -> float:
    """Calls answered per second; each caller calls again as soon as it is answered."""
    protocol, servers, _ = SETTINGS[setting]
    cluster = SimCluster(one_group(servers - 1, protocol=protocol), seed)
    cluster.run_until(cluster.settled)
    clients = [cluster.start_client(f"client{number + 1}") for number in range(MACHINES)]
    clients[0].call(Mkdir("/files"))
    for caller in range(CALLERS):
        clients[0].call(Create(f"/files/{caller}"))
    charge(cluster, THREADS)
    charge_writes(cluster)
    for caller in range(CALLERS):
        call_on(cluster, clients[caller % MACHINES], operations_of(caller), 0, random.Random())
    cluster.run_for(WARM_NS)
    return len(answered_in(cluster, window_ns)) * SECOND / window_ns


def stats_of(caller: int) -> Iterator[Operation]:
    """Stat calls on all files; each caller starts with another file."""
    return cycle(Stat(f"/files/{(caller + number) % CALLERS}") for number in range(CALLERS))


def run_of(operations_of: Operations, title: str, note: str) -> Callable[[bool], ExperimentOutcome]:
    def run(quick: bool) -> ExperimentOutcome:
        seeds = SEEDS[:1] if quick else SEEDS
        window_ns = WINDOW_NS // 4 if quick else WINDOW_NS
        found = {
            name: mean(per_s(name, operations_of, seed, window_ns) for seed in seeds) for name in SETTINGS
        }
        figures: dict[str, float] = {f"per_s_{name}": round(rate) for name, rate in found.items()}
        figures |= {
            f"{name}_over_single": round(rate / found["single"], 3)
            for name, rate in found.items()
            if name != "single"
        }
        config = {
            "fabric": "simulated",
            "callers": CALLERS,
            "client_machines": MACHINES,
            "service_threads": THREADS,
            "message_us": MESSAGE_NS / 1000,
            "seeds": list(seeds),
            "window_ms": window_ns / MILLISECOND,
        }
        bars: dict[str, list[Point]] = {
            "ours": [(float(place), rate) for place, rate in enumerate(found.values())]
        }
        names = [reported for *_, reported in SETTINGS.values()]
        return ExperimentOutcome(
            config, figures, {}, Chart(title, "servers", "per second", bars, "bars", names), [note]
        )

    return run


CREATE_NOTE = (
    "The server that leads takes a create's message and carries it out; the two others tell it that they have accepted and that they have executed, "
    "four messages: for each record without packing, for each group of records with it. "
    "The paper gives the curve alone: packing restores most of the throughput."
)
STAT_NOTE = "Every server answers reads, so three answer up to three times as many; the paper gives the curve alone: stat scales with the servers."

EXPERIMENTS = [
    Experiment(
        "dcfs3-create",
        "DCFS3, performance of metadata write operations",
        "100 callers create files on one server, on three, and packed",
        run_of(files_of, "mdtest, file creation, 100 callers", CREATE_NOTE),
    ),
    Experiment(
        "dcfs3-stat",
        "DCFS3, performance of metadata read operations",
        "100 callers ask for files on one server and on three",
        run_of(stats_of, "mdtest, file stat, 100 callers", STAT_NOTE),
    ),
]
