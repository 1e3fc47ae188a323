"""`saa-fig7`: cost of total order over a round trip, with one sender and with all (SAA §7.2, Fig. 7).

In virtual time. One sender: one client makes one call at a time, and the other members are idle; only the network takes time. All senders:
every member has its own callers, each of which calls again once it is answered, and a member takes time for each message.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count
from statistics import median
from typing import Any

import msgspec

from benchmarks._model import Chart, Experiment, ExperimentOutcome
from benchmarks._simulation import MESSAGE_NS, call_on, charge, clients_at
from nodes.config import MILLISECOND, one_group
from nodes.metadata.operations import Mkdir, Operation
from nodes.sim.cluster import SimCluster
from nodes.sim.conditions import NETWORK
from nodes.trace.events import Called, Delivered, Stamped

MEMBERS = (2, 3, 4, 6, 8)
SEEDS = (1, 2, 3)
WRITES, PLAIN_WRITES = 50, 5
THREADS = 8
"""Service threads of each member, as in `dcfs3-packing`."""
CALLERS = 200
"""Callers of each member, when all are sending."""
FEWER = (1, 4, 16, 32, 100)
CLIENTS = 20
"""Most clients of each member: with so many links a slow one stops no member."""
WARM_NS, WINDOW_NS = 40 * MILLISECOND, 40 * MILLISECOND
HEARTBEAT_MS = 500
PAPER = {"extra_acks_all_senders": 0.0, "plain_max_ms": 500.0}


class Broadcasts:
    """Broadcasts since the start: their send times, the times until their sender delivered them, and the numbers with and without calls."""

    def __init__(self, cluster: SimCluster):
        self._cluster = cluster
        self._left_ns: dict[tuple[str, int], int] = {}
        self.latencies_ns: list[int] = []
        self.with_calls = 0
        self.acknowledgements = 0
        cluster.net.on_sent.subscribe(self._on_sent)
        cluster.on_event(self._on_event)

    def _on_sent(self, sender: str, receiver: str, message: Any) -> None:
        if type(message).__name__ != "Broadcast":
            return
        key = (sender, message.message.counter)
        if key not in self._left_ns:
            self._left_ns[key] = self._cluster.now_ns
            self.with_calls += bool(message.message.records)
            self.acknowledgements += not message.message.records

    def _on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        if type(event) is Delivered and event.sender == stamped.server:
            left_ns = self._left_ns.get((event.sender, event.counter))
            if left_ns is not None:
                self.latencies_ns.append(stamped.at_ns - left_ns)

    @property
    def acknowledgements_per_message(self) -> float:
        return self.acknowledgements / max(1, self.with_calls)


def group_of(members: int, order: str, seed: int) -> SimCluster:
    cluster = SimCluster(one_group(members - 1, protocol="symmetric", order=order), seed)
    cluster.run_until(cluster.settled)
    return cluster


def round_trip_ns(members: int, seed: int) -> float:
    """The median time until the last of the others has been reached and its answer is back, on the simulator's links."""
    rng = random.Random(seed)
    others = range(members - 1)
    return median(max(NETWORK.draw_ns(rng) + NETWORK.draw_ns(rng) for _ in others) for _ in range(10_000))


def one_sender(members: int, order: str, seed: int, writes: int) -> Broadcasts:
    cluster = group_of(members, order, seed)
    client = cluster.start_client("client1")
    broadcasts = Broadcasts(cluster)
    for number in range(writes):
        client.call(Mkdir(f"/{number}"))
    return broadcasts


def all_senders(
    members: int, order: str, seed: int, callers: int = CALLERS, window_ns: int = WINDOW_NS
) -> Broadcasts:
    """All members send: each has `callers` callers, which call again once they are answered."""
    cluster = group_of(members, order, seed)
    charge(cluster, THREADS)
    clients = clients_at(cluster, list(cluster.view()), min(CLIENTS, callers))
    for caller in range(callers * members):
        call_on(cluster, clients[caller % len(clients)], directories(caller), 0, random.Random())
    answered: set[str] = set()
    cluster.on_event(
        lambda reported: answered.add(reported.server) if type(reported.event) is Called else None
    )
    cluster.run_until(lambda: len(answered) == len(clients))
    cluster.run_for(WARM_NS)
    broadcasts = Broadcasts(cluster)
    cluster.run_for(window_ns)
    return broadcasts


def directories(caller: int) -> Iterator[Operation]:
    return (Mkdir(f"/{caller}-{number}") for number in count())


class OrderLatencies(msgspec.Struct, frozen=True):
    """The medians over the seeds for one number of members, in milliseconds."""

    round_trip: float
    fast: float
    plain: float
    plain_min: float
    plain_max: float
    fast_all: float
    plain_all: float
    acknowledgements: int
    """Messages without calls over all seeds, when all send."""
    messages: int
    """Messages that carry calls, over all seeds, when all send."""


def measure(members: int, seeds: tuple[int, ...], window_ns: int, writes: int) -> OrderLatencies:
    plain = [one_sender(members, "plain", seed, PLAIN_WRITES).latencies_ns for seed in seeds]
    fast = [one_sender(members, "fast", seed, writes).latencies_ns for seed in seeds]
    sending = [all_senders(members, "fast", seed, window_ns=window_ns) for seed in seeds]
    plain_all = [all_senders(members, "plain", seed, window_ns=window_ns).latencies_ns for seed in seeds]
    return OrderLatencies(
        round_trip=median(round_trip_ns(members, seed) for seed in seeds) / MILLISECOND,
        fast=median(map(median, fast)) / MILLISECOND,
        plain=median(map(median, plain)) / MILLISECOND,
        plain_min=min(map(min, plain)) / MILLISECOND,
        plain_max=max(map(max, plain)) / MILLISECOND,
        fast_all=median(median(found.latencies_ns) for found in sending) / MILLISECOND,
        plain_all=median(map(median, plain_all)) / MILLISECOND,
        acknowledgements=sum(found.acknowledgements for found in sending),
        messages=sum(found.with_calls for found in sending),
    )


def run(quick: bool) -> ExperimentOutcome:
    sizes, seeds, fewer = ((2, 4), SEEDS[:1], FEWER[1:2]) if quick else (MEMBERS, SEEDS, FEWER)
    window_ns, writes = (WINDOW_NS // 2, WRITES // 5) if quick else (WINDOW_NS, WRITES)
    found = {members: measure(members, seeds, window_ns, writes) for members in sizes}
    figures = figures_of(found)
    for callers in fewer:
        each = all_senders(4, "fast", seeds[0], callers, window_ns).acknowledgements_per_message
        figures[f"extra_acks_{callers}_callers"] = round(each, 3)
    config = {
        "fabric": "simulated",
        "members": list(sizes),
        "seeds": list(seeds),
        "heartbeat_ms": HEARTBEAT_MS,
        "message_us_all_senders": MESSAGE_NS / 1000,
        "service_threads": THREADS,
        "callers_per_member": CALLERS,
        "window_ms": window_ns / MILLISECOND,
    }
    return ExperimentOutcome(config, figures, PAPER, chart_of(found), [NOTE])


NOTE = (
    "extra_acks_all_senders: empty messages for each with calls, every member having 200 callers; extra_acks_N_callers: four members with N "
    "callers each. A member whose callers have all been answered at once has nothing to send for a while, and acknowledges."
)


def figures_of(found: dict[int, OrderLatencies]) -> dict[str, float]:
    """Figures at the size that is worst for us in each case; acknowledgements over all sizes."""
    sizes = found.values()
    figures = {
        "fast_over_rtt": max(size.fast / size.round_trip for size in sizes),
        "plain_over_rtt": min(size.plain / size.round_trip for size in sizes),
        "plain_max_ms": max(size.plain_max for size in sizes),
        "extra_acks_all_senders": sum(size.acknowledgements for size in sizes)
        / sum(size.messages for size in sizes),
        "messages_all_senders": sum(size.messages for size in sizes),
        "fast_over_plain_all_senders": max(size.fast_all / size.plain_all for size in sizes),
    }
    return {key: round(value, 5) for key, value in figures.items()}


def chart_of(found: dict[int, OrderLatencies]) -> Chart:
    lines = {
        "ideal round trip": "round_trip",
        "fast, one sender": "fast",
        "plain, one sender, least": "plain_min",
        "plain, one sender, median": "plain",
        "fast, all senders": "fast_all",
        "plain, all senders": "plain_all",
    }
    series = {
        label: [(float(members), getattr(size, field)) for members, size in found.items()]
        for label, field in lines.items()
    }
    return Chart("Latency of total order", "members", "milliseconds", series, logarithmic=True)


EXPERIMENTS = [
    Experiment(
        "saa-fig7",
        "SAA §7.2, Fig. 7",
        "how long a message waits for its place in the total order; plain and fast, one sender and all",
        run,
    )
]
