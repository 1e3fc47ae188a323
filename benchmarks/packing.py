"""Savings of packing (DCFS3): the same creates by 100 callers, with one record in each message and with packed messages; and the latency of one
caller."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from statistics import median
from typing import Any

import uvloop

from benchmarks.running import Bench, cluster, quantile, report
from nodes.config import Timing, WorkloadConfig, one_group
from nodes.trace.events import Called, Stamped

ROUNDS = 3
CALLERS = 100
WINDOW_S = 5.0
WARM_S = 1.0
UNPACKED, PACKED = "multi-paxos", "packed-paxos"
REPLICATING = ("Accept", "Success")
PAPER = {
    "messages_unpacked": 600_600,
    "messages_packed": 68_158,
    "fewer_percent": 88.7,
    "share_3_to_6_percent": 89.7,
}


class Latencies:
    """Latencies of the calls that returned since the last clear."""

    def __init__(self) -> None:
        self.ms: list[float] = []
        self.failed = 0

    def on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        if type(event) is Called:
            self.ms.append((event.returned_ns - event.invoked_ns) / 1e6)
            self.failed += bool(event.error)


class Sent:
    """Messages that the primary had sent at a moment."""

    def __init__(self, reported: dict[str, Any]):
        self.operations = int(reported["operations"])
        self.messages = sum(int(reported["messages"].get(kind, 0)) for kind in REPLICATING)
        self.by_records = Counter({int(n): int(count) for n, count in reported["records_per_batch"].items()})


class Measured:
    """Results of one protocol, over all rounds."""

    def __init__(self) -> None:
        self.operations = 0
        self.messages = 0
        self.by_records: Counter[int] = Counter()
        self.per_s: list[float] = []
        self.alone_ms: list[float] = []

    def add(self, before: Sent, after: Sent) -> None:
        self.operations += after.operations - before.operations
        self.messages += after.messages - before.messages
        self.by_records += after.by_records - before.by_records
        self.per_s.append((after.operations - before.operations) / WINDOW_S)

    @property
    def per_operation(self) -> float:
        return self.messages / max(1, self.operations)

    def share(self, least: int, most: int) -> float:
        """Share of the messages that carry `least` to `most` records."""
        within = sum(count for records, count in self.by_records.items() if least <= records <= most)
        return within / max(1, sum(self.by_records.values()))

    @property
    def mean_records(self) -> float:
        carrying = sum(count for records, count in self.by_records.items() if records)
        return sum(records * count for records, count in self.by_records.items()) / max(1, carrying)


async def sent(bench: Bench) -> Sent:
    primary = next(iter(bench.fabric.picture.groups.values())).active
    return Sent(await bench.fabric.ask(primary, {"do": "replication"}))


async def callers(bench: Bench, count: int) -> None:
    await bench.fabric.replace_client(
        WorkloadConfig(clients=count, rate_per_s=0, mix={"create": 1}, directories=64, remembered=1)
    )


async def one_round(protocol: str, measured: Measured) -> list[str]:
    latencies = Latencies()
    config = one_group(2, protocol=protocol, timing=Timing())
    async with cluster(latencies.on_event, config=config) as bench:
        await callers(bench, 1)
        await asyncio.sleep(WARM_S)
        latencies.ms.clear()
        await asyncio.sleep(WINDOW_S / 2)
        measured.alone_ms.append(quantile(latencies.ms, 0.5))
        await callers(bench, CALLERS)
        await asyncio.sleep(WARM_S)
        before = await sent(bench)
        await asyncio.sleep(WINDOW_S)
        measured.add(before, await sent(bench))
        return bench.broken()


async def measure() -> tuple[dict[str, Measured], list[str]]:
    found, broken = {UNPACKED: Measured(), PACKED: Measured()}, []
    for _ in range(ROUNDS):
        for protocol, measured in found.items():
            broken += await one_round(protocol, measured)
    return found, broken


def main() -> int:
    """Prints one JSON object."""
    gc.set_threshold(200_000, 50, 1000)
    found, broken = uvloop.run(measure())
    unpacked, packed = found[UNPACKED], found[PACKED]
    alone = {protocol: median(measured.alone_ms) for protocol, measured in found.items()}
    figures = {
        "messages_per_create_unpacked": round(unpacked.per_operation, 3),
        "messages_per_create_packed": round(packed.per_operation, 3),
        "fewer_percent": round(100 * (1 - packed.per_operation / unpacked.per_operation), 1),
        "share_3_to_6_percent": round(100 * packed.share(3, 6), 1),
        "share_3_and_more_percent": round(100 * packed.share(3, 1 << 30), 1),
        "records_per_message": round(packed.mean_records, 2),
        "latency_ratio_1_caller": round(alone[PACKED] / alone[UNPACKED], 3),
        "create_ms_p50_1_caller_packed": round(alone[PACKED], 3),
        "create_ms_p50_1_caller_unpacked": round(alone[UNPACKED], 3),
        "create_per_s_packed": round(median(packed.per_s)),
        "create_per_s_unpacked": round(median(unpacked.per_s)),
        "by_records": {str(records): packed.by_records[records] for records in sorted(packed.by_records)},
        "broken_checks": len(broken),
    }
    config = {"servers": 3, "callers": CALLERS, "rounds": ROUNDS, "window_s": WINDOW_S}
    return report("packing", config, figures, PAPER)
