"""`dcfs3-packing`: messages that replication takes with one record in each, and with all that the packer finds (DCFS3, the effect of packing).

In virtual time: 100 callers on 12 client machines create files on three servers, as in the paper, with a pause between two calls. A server
takes time for each message. It has as many service threads as its scheduler serves before the packer's turn comes.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import count
from statistics import median
from typing import Any

import msgspec

from benchmarks.experiments.model import Chart, Experiment, Outcome
from benchmarks.experiments.simulated import MESSAGE_NS, answered_in, call_on, charge
from nodes.config import MILLISECOND, one_group
from nodes.metadata.operations import Create, Mkdir, Operation
from nodes.sim.cluster import SimCluster

UNPACKED, PACKED = "multi-paxos", "packed-paxos"
CALLERS, MACHINES = 100, 12
THREADS = 8
"""Number of service threads; the paper mentions several without a number."""
THREADS_TRIED = (1, 2, 4, 8, 16, None)
THINK_NS = 2 * MILLISECOND
"""Mean pause of a caller before a file: a client machine with one processor gives a quarter of a millisecond to each of its eight callers."""
WARM_NS, WINDOW_NS = 100 * MILLISECOND, 400 * MILLISECOND
SEEDS = (1, 2, 3)


class Replicated(msgspec.Struct):
    """Replication costs of creates."""

    creates: int = 0
    by_records: Counter[int] = msgspec.field(default_factory=Counter)
    """Number of the primary's messages by the records in them; only messages that carry records or decisions."""
    latencies_ns: list[int] = []

    @property
    def messages_per_create(self) -> float:
        return sum(self.by_records.values()) / max(1, self.creates)

    @property
    def records_per_message(self) -> float:
        """Mean number of records per message, without messages that carry none."""
        carrying = sum(number for records, number in self.by_records.items() if records)
        return sum(records * number for records, number in self.by_records.items()) / max(1, carrying)

    def share(self, least: int, most: int) -> float:
        """Share of all messages that carry `least` to `most` records."""
        within = sum(number for records, number in self.by_records.items() if least <= records <= most)
        return within / max(1, sum(self.by_records.values()))

    def add(self, other: Replicated) -> None:
        self.creates += other.creates
        self.by_records += other.by_records
        self.latencies_ns += other.latencies_ns


PAPER_UNPACKED = Replicated(100_100, Counter({0: 300_300, 1: 300_300}))
PAPER_PACKED = Replicated(
    100_100,
    Counter({0: 304, 1: 764, 2: 3134, 3: 11136, 4: 20403, 5: 19476, 6: 10148, 7: 2411, 8: 336, 9: 45, 10: 1}),
)
"""The paper's table, with three messages for every create; ours go to the two other servers."""


def creates(
    protocol: str,
    seed: int,
    callers: int = CALLERS,
    threads: int | None = THREADS,
    window_ns: int = WINDOW_NS,
) -> Replicated:
    """One run of creates in one directory, with pauses of THINK_NS in the mean. Raises FsError when a call fails."""
    cluster = SimCluster(one_group(2, protocol=protocol), seed)
    cluster.run_until(cluster.settled)
    primary = next(name for name, letter in cluster.view().items() if letter == "P")
    charge(cluster, threads)
    clients = [cluster.start_client(f"client{number + 1}") for number in range(min(MACHINES, callers))]
    clients[0].call(Mkdir("/files"))
    for caller in range(callers):
        rng = random.Random(f"{seed}/{caller}")
        call_on(cluster, clients[caller % MACHINES], files_of(caller), THINK_NS, rng)
    cluster.run_for(WARM_NS)
    before = replication(cluster, primary)
    latencies_ns = answered_in(cluster, window_ns)
    after = replication(cluster, primary)
    return Replicated(after.creates - before.creates, after.by_records - before.by_records, latencies_ns)


def files_of(caller: int) -> Iterator[Operation]:
    return (Create(f"/files/{caller}-{number}") for number in count())


def replication(cluster: SimCluster, primary: str) -> Replicated:
    """Replication costs so far."""
    reported: dict[str, Any] = cluster.ask(primary, {"do": "replication"})
    by_records = {int(records): number for records, number in reported["records_per_batch"].items()}
    return Replicated(reported["operations"], Counter(by_records))


def over(seeds: tuple[int, ...], protocol: str, **settings: Any) -> Replicated:
    total = Replicated()
    for seed in seeds:
        total.add(creates(protocol, seed, **settings))
    return total


def run(quick: bool) -> Outcome:
    seeds = SEEDS[:1] if quick else SEEDS
    window_ns = WINDOW_NS // 4 if quick else WINDOW_NS
    unpacked = over(seeds, UNPACKED, window_ns=window_ns)
    packed = over(seeds, PACKED, window_ns=window_ns)
    alone = {name: over(seeds, name, callers=1, window_ns=4 * window_ns) for name in (UNPACKED, PACKED)}
    tried = THREADS_TRIED[-1:] if quick else THREADS_TRIED
    by_threads = {number: over(seeds[:1], PACKED, threads=number, window_ns=window_ns) for number in tried}
    figures = {
        **reported_of(unpacked, packed),
        "creates_ratio": round(packed.creates / max(1, unpacked.creates), 2),
        "single_client_latency_ratio": round(
            median(alone[PACKED].latencies_ns) / median(alone[UNPACKED].latencies_ns), 3
        ),
    }
    for number, found in by_threads.items():
        key = f"{number or 'any'}_threads"
        figures[f"records_per_message_{key}"] = round(found.records_per_message, 2)
        figures[f"share_3_to_6_{key}"] = round(found.share(3, 6), 3)
    config = {
        "fabric": "simulated",
        "servers": 3,
        "callers": CALLERS,
        "client_machines": MACHINES,
        "service_threads": THREADS,
        "think_ms": THINK_NS / MILLISECOND,
        "message_us": MESSAGE_NS / 1000,
        "seeds": list(seeds),
        "window_ms": window_ns / MILLISECOND,
    }
    return Outcome(config, figures, reported_of(PAPER_UNPACKED, PAPER_PACKED), chart_of(packed), [NOTE])


NOTE = (
    "How many records a message takes is decided by how many service threads get their turn before the packer; "
    "the paper does not say how many it has. The keys ..._threads show it, `any` being a server that serves all that is there."
)


def reported_of(unpacked: Replicated, packed: Replicated) -> dict[str, float]:
    return {
        "messages_per_create_unpacked": round(unpacked.messages_per_create, 2),
        "messages_per_create_packed": round(packed.messages_per_create, 3),
        "message_reduction": round(1 - packed.messages_per_create / unpacked.messages_per_create, 3),
        "records_per_message": round(packed.records_per_message, 2),
        "share_3_to_6": round(packed.share(3, 6), 3),
        "share_without_records": round(packed.share(0, 0), 3),
    }


def chart_of(packed: Replicated) -> Chart:
    shares = {
        label: [(float(records), round(found.share(records, records), 4)) for records in range(11)]
        for label, found in {"ours": packed, "the paper's": PAPER_PACKED}.items()
    }
    return Chart(
        "Packed Multi-Paxos, 100 callers", "records in a message", "share of messages", shares, "bars"
    )


EXPERIMENTS = [
    Experiment(
        "dcfs3-packing",
        "DCFS3, Performance of metadata write operations: the effect of packing",
        "100 callers create files; messages with one record each, and packed ones",
        run,
    )
]
