"""`bench packing`, `reproduce dcfs3-packing`: messages that replication takes with one record in each, and with all that the packer finds (DCFS3,
the effect of packing).

The benchmark runs on processes: 100 callers in one client, then one caller. The experiment is in virtual time: 100 callers on 12 client machines
create files on three servers, as in the paper, with a pause between two calls. A server takes time for each message. It has as many service
threads as its scheduler serves before the packer's turn comes.
"""

from __future__ import annotations

import asyncio
import gc
import random
from collections import Counter
from collections.abc import Iterator
from itertools import count
from statistics import median
from typing import Any

import msgspec
import uvloop

from benchmarks._cluster import Bench, quantile, report
from benchmarks._cluster import cluster as processes
from benchmarks._model import Chart, Experiment, ExperimentOutcome
from benchmarks._simulation import MESSAGE_NS, answered_in, call_on, charge
from nodes.config import MILLISECOND, Timing, WorkloadConfig, one_group
from nodes.metadata.operations import Create, Mkdir, Operation
from nodes.sim.cluster import SimCluster
from nodes.trace.events import Called, Stamped

UNPACKED, PACKED = "multi-paxos", "packed-paxos"
CALLERS, MACHINES = 100, 12
THREADS = 8
"""Number of service threads; the paper mentions several without a number."""
THREADS_TRIED = (1, 2, 4, 8, 16, None)
THINK_NS = 2 * MILLISECOND
"""Mean pause of a caller before a file: a client machine with one processor gives a quarter of a millisecond to each of its eight callers."""
WARM_NS, WINDOW_NS = 100 * MILLISECOND, 400 * MILLISECOND
SEEDS = (1, 2, 3)
ROUNDS = 3
WINDOW_S = 5.0
WARM_S = 1.0
"""Rounds of the benchmark, and the times of each."""


class ReplicationCosts(msgspec.Struct):
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

    def since(self, before: ReplicationCosts) -> ReplicationCosts:
        return ReplicationCosts(self.creates - before.creates, self.by_records - before.by_records)

    def add(self, other: ReplicationCosts) -> None:
        self.creates += other.creates
        self.by_records += other.by_records
        self.latencies_ns += other.latencies_ns


PAPER_UNPACKED = ReplicationCosts(100_100, Counter({0: 300_300, 1: 300_300}))
PAPER_PACKED = ReplicationCosts(
    100_100,
    Counter({0: 304, 1: 764, 2: 3134, 3: 11136, 4: 20403, 5: 19476, 6: 10148, 7: 2411, 8: 336, 9: 45, 10: 1}),
)
"""The paper's table, with three messages for every create; ours go to the two other servers."""

PAPER = {
    "messages_unpacked": 600_600,
    "messages_packed": 68_158,
    "fewer_percent": 88.7,
    "share_3_to_6_percent": 89.7,
}


def creates(
    protocol: str,
    seed: int,
    callers: int = CALLERS,
    threads: int | None = THREADS,
    window_ns: int = WINDOW_NS,
) -> ReplicationCosts:
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
    before = replication(cluster.ask(primary, {"do": "replication"}))
    latencies_ns = answered_in(cluster, window_ns)
    after = replication(cluster.ask(primary, {"do": "replication"}))
    return msgspec.structs.replace(after.since(before), latencies_ns=latencies_ns)


def files_of(caller: int) -> Iterator[Operation]:
    return (Create(f"/files/{caller}-{number}") for number in count())


def replication(reported: dict[str, Any]) -> ReplicationCosts:
    """Replication costs so far, as the primary reports them."""
    by_records = {int(records): number for records, number in reported["records_per_batch"].items()}
    return ReplicationCosts(reported["operations"], Counter(by_records))


def over(seeds: tuple[int, ...], protocol: str, **settings: Any) -> ReplicationCosts:
    total = ReplicationCosts()
    for seed in seeds:
        total.add(creates(protocol, seed, **settings))
    return total


def run(quick: bool) -> ExperimentOutcome:
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
    return ExperimentOutcome(
        config, figures, reported_of(PAPER_UNPACKED, PAPER_PACKED), chart_of(packed), [NOTE]
    )


NOTE = (
    "How many records a message takes is decided by how many service threads get their turn before the packer; "
    "the paper does not say how many it has. The keys ..._threads show it, `any` being a server that serves all that is there."
)


def reported_of(unpacked: ReplicationCosts, packed: ReplicationCosts) -> dict[str, float]:
    return {
        "messages_per_create_unpacked": round(unpacked.messages_per_create, 2),
        "messages_per_create_packed": round(packed.messages_per_create, 3),
        "message_reduction": round(1 - packed.messages_per_create / unpacked.messages_per_create, 3),
        "records_per_message": round(packed.records_per_message, 2),
        "share_3_to_6": round(packed.share(3, 6), 3),
        "share_without_records": round(packed.share(0, 0), 3),
    }


def chart_of(packed: ReplicationCosts) -> Chart:
    shares = {
        label: [(float(records), round(found.share(records, records), 4)) for records in range(11)]
        for label, found in {"ours": packed, "the paper's": PAPER_PACKED}.items()
    }
    return Chart(
        "Packed Multi-Paxos, 100 callers", "records in a message", "share of messages", shares, "bars"
    )


class LatencySample:
    """Milliseconds of the calls that returned."""

    def __init__(self) -> None:
        self.ms: list[float] = []

    def on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        if type(event) is Called:
            self.ms.append((event.returned_ns - event.invoked_ns) / 1e6)


class PackingMeasures:
    """Results of one protocol on processes, over all rounds."""

    def __init__(self) -> None:
        self.costs = ReplicationCosts()
        self.per_s: list[float] = []
        self.alone_ms: list[float] = []


async def so_far(bench: Bench) -> ReplicationCosts:
    primary = next(iter(bench.fabric.picture.groups.values())).active
    return replication(await bench.fabric.ask(primary, {"do": "replication"}))


async def callers(bench: Bench, count: int) -> None:
    await bench.fabric.replace_client(
        WorkloadConfig(clients=count, rate_per_s=0, mix={"create": 1}, directories=64, remembered=1)
    )


async def one_round(protocol: str, measured: PackingMeasures) -> list[str]:
    latencies = LatencySample()
    async with processes(
        latencies.on_event, config=one_group(2, protocol=protocol, timing=Timing())
    ) as bench:
        await callers(bench, 1)
        await asyncio.sleep(WARM_S)
        latencies.ms.clear()
        await asyncio.sleep(WINDOW_S / 2)
        measured.alone_ms.append(quantile(latencies.ms, 0.5))
        await callers(bench, CALLERS)
        await asyncio.sleep(WARM_S)
        before = await so_far(bench)
        await asyncio.sleep(WINDOW_S)
        found = (await so_far(bench)).since(before)
        measured.costs.add(found)
        measured.per_s.append(found.creates / WINDOW_S)
        return bench.broken()


async def measure() -> tuple[PackingMeasures, PackingMeasures, list[str]]:
    unpacked, packed, broken = PackingMeasures(), PackingMeasures(), []
    for _ in range(ROUNDS):
        broken += await one_round(UNPACKED, unpacked)
        broken += await one_round(PACKED, packed)
    return unpacked, packed, broken


def main() -> int:
    """Prints one JSON object."""
    gc.set_threshold(200_000, 50, 1000)
    unpacked, packed, broken = uvloop.run(measure())
    alone_unpacked, alone_packed = median(unpacked.alone_ms), median(packed.alone_ms)
    by_records, many, one = packed.costs.by_records, packed.costs, unpacked.costs
    figures = {
        "messages_per_create_unpacked": round(one.messages_per_create, 3),
        "messages_per_create_packed": round(many.messages_per_create, 3),
        "fewer_percent": round(100 * (1 - many.messages_per_create / one.messages_per_create), 1),
        "share_3_to_6_percent": round(100 * many.share(3, 6), 1),
        "share_3_and_more_percent": round(100 * many.share(3, 1 << 30), 1),
        "records_per_message": round(many.records_per_message, 2),
        "latency_ratio_1_caller": round(alone_packed / alone_unpacked, 3),
        "create_ms_p50_1_caller_packed": round(alone_packed, 3),
        "create_ms_p50_1_caller_unpacked": round(alone_unpacked, 3),
        "create_per_s_packed": round(median(packed.per_s)),
        "create_per_s_unpacked": round(median(unpacked.per_s)),
        "by_records": {str(records): by_records[records] for records in sorted(by_records)},
        "broken_checks": len(broken),
    }
    config = {"servers": 3, "callers": CALLERS, "rounds": ROUNDS, "window_s": WINDOW_S}
    return report("packing", config, figures, PAPER)


EXPERIMENTS = [
    Experiment(
        "dcfs3-packing",
        "DCFS3, Performance of metadata write operations: the effect of packing",
        "100 callers create files; messages with one record each, and packed ones",
        run,
    )
]
