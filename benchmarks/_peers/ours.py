"""Ours: one active and three standbys with SSP (`--protocol mams`) and the members' detection of silence."""

from __future__ import annotations

import asyncio
from pathlib import Path

import uvloop

from backend.fabrics.processes import ProcessFabric
from backend.names import CLIENT
from benchmarks import failover
from benchmarks._cluster import Bench, cluster
from benchmarks._peers.figures import JOURNAL_RATES, OPERATIONS, Figures, PeerScale, journal_keys, rate_key
from benchmarks._peers.processes import resident_mb
from benchmarks.experiments import journal_latency
from nodes.config import SECOND, Timing, WorkloadConfig, one_group
from nodes.real.clock import monotonic_ns
from nodes.trace.events import Called, Stamped

LOG_BYTES = 8 << 30
CONFIG = one_group(protocol="mams", detection="members", timing=Timing(), log_bytes=LOG_BYTES, image_every=0)
"""Without images: HDFS and ZooKeeper write none in so short a run either."""
ASK_S = 20.0


class AnsweredCalls:
    """Times of answered calls of one kind, and the number of failed ones."""

    def __init__(self) -> None:
        self.kind = ""
        self.returned_ns: list[int] = []
        self.first_ns = 0
        """When the cluster's first call was answered."""
        self.failed = 0

    def on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        if type(event) is not Called:
            return
        if event.error:
            self.failed += event.error not in ("ENOENT", "EEXIST")
            return
        self.first_ns = self.first_ns or event.returned_ns
        if event.operation[0].lower() == self.kind:
            self.returned_ns.append(event.returned_ns)

    def per_s(self, from_ns: int, to_ns: int) -> float:
        """Calls a second until the last one in that time."""
        within = [at_ns for at_ns in self.returned_ns if from_ns <= at_ns < to_ns]
        return len(within) * SECOND / (max(within) - from_ns) if len(within) > 1 else 0.0


def workload(callers: int) -> WorkloadConfig:
    return WorkloadConfig(
        clients=callers, rate_per_s=0, mix={"create": 1}, directories=64, remembered=2_000_000
    )


async def phase(bench: Bench, calls: AnsweredCalls, kind: str, warm_s: float, window_s: float) -> float:
    """Calls a second of one kind, while the client makes no other."""
    calls.kind = kind
    await bench.fabric.ask(CLIENT, {"do": "mix", "mix": {kind: 1}}, ASK_S)
    await asyncio.sleep(warm_s)
    calls.returned_ns.clear()
    from_ns = monotonic_ns()
    await asyncio.sleep(window_s + 0.3)  # Events come a little after what they report.
    return calls.per_s(from_ns, from_ns + int(window_s * SECOND))


async def rates(scale: PeerScale) -> Figures:
    """Start, memory and rates. Raises AssertionError when an invariant was violated."""
    calls = AnsweredCalls()
    began_ns = monotonic_ns()
    async with cluster(calls.on_event, config=CONFIG, workload=workload(scale.callers[0])) as bench:
        await bench.until(lambda: calls.first_ns > 0)
        figures: Figures = {"start_s": (calls.first_ns - began_ns) / SECOND, "rss_mb_start": memory_mb(bench)}
        for kind in OPERATIONS:
            await phase(bench, calls, kind, 0.0, scale.first_s / len(OPERATIONS))
        for callers in scale.callers:
            await bench.fabric.replace_client(workload(callers))
            for kind in OPERATIONS:
                warm_s = 0.0 if kind == "delete" else scale.warm_s
                figures[rate_key(kind, callers)] = await phase(bench, calls, kind, warm_s, scale.window_s)
        figures |= {"rss_mb": memory_mb(bench), "failed_calls": calls.failed}
        assert not bench.broken(), bench.broken()
    return figures


def memory_mb(bench: Bench) -> float:
    """Resident memory of all servers, the coordination service and its relays, in MiB."""
    assert isinstance(bench.fabric, ProcessFabric)
    children = bench.fabric.children.by_name
    return sum(resident_mb(child.pid) for name, child in children.items() if name != CLIENT and child.running)


async def journal(scale: PeerScale) -> Figures:
    """Latencies of a journal with three copies, as in `cfs-fig8a`."""
    figures: Figures = {}
    async with cluster(lambda stamped: None, config=journal_latency.config_of("ssp")) as bench:
        await journal_latency.load(bench.fabric, JOURNAL_RATES[1], scale.first_s / 3)
        for rate in JOURNAL_RATES:
            found = await journal_latency.load(bench.fabric, rate, scale.journal_s)
            record, flush = journal_keys(rate)
            figures |= {
                record: found.mean_ms,
                flush: found.flush_ms,
                f"journal_per_s_{rate // 1_000}k": found.per_s,
            }
    return figures


def measure(directory: Path, scale: PeerScale, figures: Figures) -> None:
    """One round, in clusters with directories of their own: the active's process dies in one and falls silent in another. Adds the figures.
    Raises TimeoutError, RuntimeError, AssertionError."""
    figures |= uvloop.run(rates(scale))
    figures |= uvloop.run(journal(scale))
    for key, verb, undo in (("kill_gap_ms", "crash", "restart"), ("silent_gap_ms", "pause", "resume")):
        _, [figures[key]], _ = uvloop.run(failover.measure(1, verb, undo))
