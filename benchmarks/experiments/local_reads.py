"""`saa-fig10`: read throughput of symmetric members (SAA §7.4, Fig. 10).

In virtual time. A member takes a fixed time for each message and answers its own reads, so the rates of the members add up.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import repeat

from benchmarks._model import Chart, Experiment, ExperimentOutcome
from benchmarks._simulation import MESSAGE_NS, answered_in, call_on, charge, clients_at
from nodes.config import MILLISECOND, SECOND, one_group
from nodes.metadata.operations import Create, Operation, Stat
from nodes.sim.cluster import SimCluster

MEMBERS = (1, 2, 4)
CLIENTS = (1, 2, 4, 8, 16, 32)
"""Numbers of clients as in the paper; each calls again once it is answered."""
SEEDS = (1, 2, 3)
WARM_NS, WINDOW_NS = 20 * MILLISECOND, 100 * MILLISECOND
PAPER = {"read_scale_2": 1.8}


def reads_per_s(members: int, clients: int, seed: int, window_ns: int) -> float:
    """Answers per second to clients that are distributed over the members."""
    cluster = SimCluster(one_group(members - 1, protocol="symmetric"), seed)
    cluster.run_until(cluster.settled)
    each = -(-clients // members)
    asking = clients_at(cluster, list(cluster.view()), each)[:clients]
    asking[0].call(Create("/file"))
    charge(cluster)
    for client in asking:
        call_on(cluster, client, stats(), 0, random.Random())
    cluster.run_for(WARM_NS)
    return len(answered_in(cluster, window_ns)) * SECOND / window_ns


def stats() -> Iterator[Operation]:
    return repeat(Stat("/file"))


def run(quick: bool) -> ExperimentOutcome:
    sizes, numbers, seeds = ((1, 2), (1, 32), SEEDS[:1]) if quick else (MEMBERS, CLIENTS, SEEDS)
    window_ns = WINDOW_NS // 4 if quick else WINDOW_NS
    found = {
        members: {
            clients: sum(reads_per_s(members, clients, seed, window_ns) for seed in seeds) / len(seeds)
            for clients in numbers
        }
        for members in sizes
    }
    most, alone = max(numbers), found[1]
    figures = {
        f"read_scale_{members}": round(by[most] / alone[most], 3)
        for members, by in found.items()
        if members > 1
    }
    figures["reads_per_s_1"] = round(alone[most])
    series = {
        f"{members} member{'s' if members > 1 else ''}": [
            (float(clients), round(rate / alone[min(numbers)], 3)) for clients, rate in by.items()
        ]
        for members, by in found.items()
    }
    config = {
        "fabric": "simulated",
        "members": list(sizes),
        "clients": list(numbers),
        "message_us": MESSAGE_NS / 1000,
        "seeds": list(seeds),
        "window_ms": window_ns / MILLISECOND,
    }
    chart = Chart("Read throughput", "clients", "normalised to one server with one client", series)
    return ExperimentOutcome(config, figures, PAPER, chart, [NOTE])


NOTE = "read_scale_N: N members over one, at 32 clients. The paper says 'linear', and 'as high as 80 %' more of two members."

EXPERIMENTS = [
    Experiment(
        "saa-fig10", "SAA §7.4, Fig. 10", "read throughput over the number of clients, by members", run
    )
]
