"""`saa-fig8`, `saa-fig9`: cost of a write on symmetric members, over one plain server (SAA §7.4, Fig. 8 and 9).

In virtual time. A server takes a fixed time for each message, and the same for each write that it carries out, whichever server received it.
Each sync takes its disk's time. Every client creates files: one after the other for the latency, all at once for the throughput.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import islice
from statistics import mean, median

from benchmarks._model import Chart, Experiment, ExperimentOutcome
from benchmarks._simulation import MESSAGE_NS, answered, call_on, charge, charge_writes, clients_at
from nodes.config import SECOND, Timing, one_group
from nodes.metadata.operations import Create, Operation
from nodes.sim.cluster import SimClient, SimCluster

PLAIN = "one plain server"
SETTINGS = {
    PLAIN: ("single", 1),
    "1 member": ("symmetric", 1),
    "2 members": ("symmetric", 2),
    "4 members": ("symmetric", 4),
}
"""Family and number of servers by setting."""
CLIENTS = (1, 2, 4, 8, 16, 32)
BLOCKED = 100
"""Writes of each client, one after the other, for the latency; the paper's number."""
UNBLOCKED = 2_000
"""Writes for each member, all begun at once, for the throughput; the paper has 5,000."""
SEEDS = (1, 2, 3)
PATIENT = Timing(client_timeout_ms=30_000, call_deadline_ms=120_000)
"""Long timeouts: a client that begins all calls at once waits for their turns."""
LIMIT_NS = 600 * SECOND
PAPER = {"loss_2_members_1_client": 0.20, "loss_2_members_32_clients": 0.05}
"""Paper's losses; it states the second as an upper bound."""

Measure = Callable[[SimCluster, list[SimClient], int], float]


def served(setting: str, clients: int, seed: int, measure: Measure) -> float:
    """Measures one cluster with `clients` clients, distributed over its servers."""
    protocol, members = SETTINGS[setting]
    cluster = SimCluster(one_group(members - 1, protocol=protocol, timing=PATIENT), seed)
    cluster.run_until(cluster.settled)
    asking = clients_at(cluster, list(cluster.view()), -(-clients // members))[:clients]
    charge(cluster)
    charge_writes(cluster)
    return measure(cluster, asking, members)


def files(client: int, count: int) -> Iterator[Operation]:
    return (Create(f"/{client}-{number}") for number in range(count))


def latency_ms(cluster: SimCluster, asking: list[SimClient], members: int) -> float:
    """Median latency of BLOCKED writes of each client: one slow sync in two hundred would dominate the mean of a hundred."""
    taken = answered(cluster)
    for number, client in enumerate(asking):
        call_on(cluster, client, files(number, BLOCKED), 0, random.Random())
    cluster.run_until(lambda: len(taken) == BLOCKED * len(asking), LIMIT_NS)
    return median(taken) / 1e6


def writes_per_s(cluster: SimCluster, asking: list[SimClient], members: int) -> float:
    """Rate of UNBLOCKED writes for each member, shared by the clients, until the last one is answered and carried out on every member."""
    began_ns, count = cluster.now_ns, UNBLOCKED * members
    calls = [
        client.spawn(operation)
        for number, client in enumerate(asking)
        for operation in islice(files(number, count), count // len(asking))
    ]
    waiting, desks = list(calls), [host.desk for host in cluster.net.hosts.values()]

    def all_answered() -> bool:
        while waiting and waiting[-1].done():
            waiting.pop().result()
        return not waiting and all(desk is None or desk.idle for desk in desks)

    cluster.run_until(all_answered, LIMIT_NS)
    return len(calls) * SECOND / (cluster.now_ns - began_ns)


def measured(measure: Measure, quick: bool) -> dict[str, dict[int, float]]:
    """Means over the seeds, by setting and number of clients."""
    clients, seeds = (CLIENTS[:: len(CLIENTS) - 1], SEEDS[:1]) if quick else (CLIENTS, SEEDS)
    settings = list(SETTINGS)[:3] if quick else list(SETTINGS)
    return {
        setting: {n: mean(served(setting, n, seed, measure) for seed in seeds) for n in clients}
        for setting in settings
    }


def outcome(
    found: dict[str, dict[int, float]], word: str, says: str, paper: dict[str, float], quick: bool
) -> ExperimentOutcome:
    """Figures relative to the plain server with as many clients. The curves are normalised to that server with one client, as in the paper."""
    plain = found[PLAIN]
    figures = {
        f"{word}_{setting.replace(' ', '_')}_{n}_client{'s' if n > 1 else ''}": round(
            by[n] / plain[n] - 1 if word == "more" else 1 - by[n] / plain[n], 3
        )
        for setting, by in found.items()
        if setting != PLAIN
        for n in (min(plain), max(plain))
    }
    series = {
        setting: [(float(n), round(value / plain[1], 3)) for n, value in by.items()]
        for setting, by in found.items()
    }
    config = {
        "fabric": "simulated",
        "clients": list(plain),
        "message_us": MESSAGE_NS / 1000,
        "seeds": list(SEEDS[:1] if quick else SEEDS),
        "writes": BLOCKED if word == "more" else UNBLOCKED,
    }
    chart = Chart(says, "clients", "normalised to one plain server with one client", series)
    return ExperimentOutcome(config, figures, paper, chart, [NOTE])


def latency(quick: bool) -> ExperimentOutcome:
    return outcome(measured(latency_ms, quick), "more", "Latency of writes", {}, quick)


def throughput(quick: bool) -> ExperimentOutcome:
    return outcome(measured(writes_per_s, quick), "loss", "Throughput of writes", PAPER, quick)


NOTE = (
    "more_… and loss_…: latency more, throughput less than the plain server's with as many clients, as shares. "
    "The paper's members broadcast each call; ours put what waits into one broadcast and share the clients' messages, "
    "so that they lose nothing at 32 clients."
)

EXPERIMENTS = [
    Experiment("saa-fig8", "SAA §7.4, Fig. 8", "latency of writes over the number of clients, by members", latency),
    Experiment("saa-fig9", "SAA §7.4, Fig. 9", "throughput of writes over the number of clients, by members", throughput),
]  # fmt: skip
