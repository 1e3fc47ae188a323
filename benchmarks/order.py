"""Total order among symmetric members in virtual time: what it costs over a round trip (SAA §7.2, Fig. 7)."""

from __future__ import annotations

import random
from statistics import median
from typing import Any

from benchmarks.running import report
from nodes.config import MILLISECOND, WorkloadConfig, one_group
from nodes.metadata.operations import Mkdir
from nodes.sim.cluster import SimCluster
from nodes.sim.links import Link
from nodes.trace.events import Delivered, Stamped

MEMBERS = (2, 4)
ROUNDS = 3
WRITES = 50
CLIENTS = 48
"""For each member, when all are sending; each has one call open at any time."""
WINDOW_NS = 5 * MILLISECOND
PAPER = {"plain_max_ms": 500.0, "acknowledgements_all_send": 0.0}


def round_trip_ns(members: int, seed: int) -> float:
    """The median of the time until the last of the others has been reached and its answer is back, on the simulator's links."""
    rng = random.Random(seed)
    others = range(members - 1)
    return median(
        max(Link().arrival_ns(0, rng) + Link().arrival_ns(0, rng) for _ in others) for _ in range(10_000)
    )


class Broadcasts:
    """When each broadcast left, and how many had nothing to deliver."""

    def __init__(self, cluster: SimCluster):
        self._cluster = cluster
        self._left_ns: dict[tuple[str, int], int] = {}
        self.latencies_ns: list[int] = []
        self.acknowledgements = 0
        cluster.hold(self._on_message)
        cluster.on_event(self._on_event)

    def _on_message(self, sender: str, receiver: str, message: Any) -> bool:
        if type(message).__name__ == "Broadcast":
            key = (sender, message.message.counter)
            if key not in self._left_ns:
                self._left_ns[key] = self._cluster.now_ns
                self.acknowledgements += not message.message.records
        return False

    def _on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        if type(event) is Delivered and event.sender == stamped.server:
            left_ns = self._left_ns.get((event.sender, event.counter))
            if left_ns is not None:
                self.latencies_ns.append(stamped.at_ns - left_ns)


def one_sender(members: int, order: str, writes: int, seed: int) -> list[int]:
    """Nanoseconds from a message's leaving to its delivery at its sender, all other members being idle."""
    cluster = SimCluster(one_group(members - 1, protocol="symmetric", order=order), seed)
    cluster.run_until(cluster.settled)
    client = cluster.start_client("client1")
    broadcasts = Broadcasts(cluster)
    for number in range(writes):
        client.call(Mkdir(f"/{number}"))
    return broadcasts.latencies_ns


def all_senders(members: int, seed: int) -> tuple[float, float]:
    """Acknowledgements for each message with calls, and the median latency in nanoseconds, when every member always has something to send."""
    cluster = SimCluster(one_group(members - 1, protocol="symmetric"), seed)
    cluster.run_until(cluster.settled)
    for number in range(CLIENTS * members):
        busy = WorkloadConfig(clients=1, rate_per_s=0, mix={"create": 1}, root=f"/{number}")
        cluster.add_workload(busy, f"client{number}")
    cluster.run_for(2 * WINDOW_NS)
    broadcasts = Broadcasts(cluster)
    cluster.run_for(WINDOW_NS)
    return broadcasts.acknowledgements / len(broadcasts.latencies_ns), median(broadcasts.latencies_ns)


def measure(members: tuple[int, ...], rounds: int, writes: int) -> dict[str, float]:
    """All figures: medians over the rounds, whose order alternates."""
    figures: dict[str, float] = {}
    for size in members:
        fast = [median(one_sender(size, "fast", writes, seed)) for seed in range(rounds)]
        plain = [one_sender(size, "plain", max(4, writes // 10), seed) for seed in range(rounds)]
        trip = median(round_trip_ns(size, seed) for seed in range(rounds))
        busy = [all_senders(size, seed) for seed in range(rounds)]
        figures[f"fast_over_round_trip_{size}"] = round(median(fast) / trip, 3)
        figures[f"plain_over_fast_{size}"] = round(median(map(median, plain)) / median(fast), 1)
        figures[f"plain_max_ms_{size}"] = round(max(map(max, plain)) / MILLISECOND, 1)
        figures[f"acknowledgements_all_send_{size}"] = round(median(each for each, _ in busy), 4)
        figures[f"all_send_over_one_{size}"] = round(median(each for _, each in busy) / median(fast), 2)
    return figures


def main() -> int:
    """Prints one JSON object."""
    figures = measure(MEMBERS, ROUNDS, WRITES)
    config = {"members": list(MEMBERS), "rounds": ROUNDS, "fabric": "simulated", "heartbeat_ms": 500}
    return report("order", config, figures, PAPER)
