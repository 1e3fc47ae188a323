"""The simulator: delivered messages, operations, virtual seconds and schedules per second of one core, and how many random seeds are clean.

It measures earlier versions too (`bench before`): what it imports has been there since the first benchmark.
"""

from __future__ import annotations

import gc
import sys
import time
from statistics import median
from typing import Any

from benchmarks.running import report
from nodes.config import SECOND, WorkloadConfig, one_group
from nodes.invariants import registry
from nodes.sim.cluster import SimCluster
from nodes.sim.explore import Explorer, random_plan

CLEAN_SEEDS = 200
HALF_READS: dict[str, float] = {"stat": 5, "create": 4, "mkdir": 1}
MIX: dict[str, float] = {"create": 5, "mkdir": 1, "stat": 3, "rename": 1, "delete": 1, "list": 1}


def started(workload: WorkloadConfig | None) -> SimCluster:
    """One active and three standbys in step, with the checks on."""
    gc.collect()
    config = one_group()
    cluster = SimCluster(config, 1, workload)
    lamps = registry.start(config)
    cluster.on_event(lamps.on_event)
    cluster.run_until(cluster.settled, 20 * SECOND)
    cluster.run_for(2 * SECOND)
    return cluster


def messages_per_s(seconds: float, callers: int) -> float:
    """Codec, trace and checks included; half reads, no faults. One caller: every write is a group of its own, so
    that the messages are most of the work; with more, the operations themselves are."""
    cluster = started(WorkloadConfig(clients=callers, rate_per_s=0, mix=HALF_READS))
    before, began = cluster.net.delivered, time.process_time()
    while time.process_time() - began < seconds:
        cluster.run_for(SECOND // 20)
        cluster.events.clear()
    return (cluster.net.delivered - before) / (time.process_time() - began)


def ops_per_s(seconds: float) -> float:
    """Clients' operations, as many as eight callers can do."""
    cluster = started(WorkloadConfig(clients=8, rate_per_s=0, mix=MIX))
    assert cluster.workload is not None
    before, began = sum(cluster.workload.counts().values()), time.process_time()
    while time.process_time() - began < seconds:
        cluster.run_for(SECOND // 20)
        cluster.events.clear()
    return (sum(cluster.workload.counts().values()) - before) / (time.process_time() - began)


def virtual_s_per_s(seconds: float) -> float:
    """Seconds of virtual time in which nobody asks for anything: heartbeats, leases, timers."""
    cluster = started(None)
    before, began = cluster.now_ns, time.process_time()
    while time.process_time() - began < seconds:
        cluster.run_for(10 * SECOND)
    return (cluster.now_ns - before) / SECOND / (time.process_time() - began)


def seeds(count: int) -> tuple[float, int]:
    """Seeds per second of a 20-second scenario with 200 operations and three faults, and how many were clean in a row."""
    explorer = Explorer(one_group(), WorkloadConfig(clients=4, rate_per_s=10, mix=MIX))
    clean = 0
    began = time.process_time()
    for seed in range(count):
        outcome, _ = explorer.run(seed, random_plan(seed, explorer.config, explorer.span_ns, 3))
        if not outcome.clean:
            print(f"seed {seed}: {outcome.trouble} {outcome.failures}", file=sys.stderr)
            break
        clean += 1
    return (seed + 1) / (time.process_time() - began), clean


def main() -> int:
    """Prints one JSON object."""
    gc.set_threshold(200_000, 50, 1000)
    per_s, clean = seeds(CLEAN_SEEDS)
    figures: dict[str, Any] = {
        "messages_per_s": round(median(messages_per_s(2, 1) for _ in range(3))),
        "messages_per_s_8_callers": round(median(messages_per_s(2, 8) for _ in range(3))),
        "ops_per_s": round(median(ops_per_s(2) for _ in range(3))),
        "virtual_s_per_s": round(median(virtual_s_per_s(2) for _ in range(3))),
        "schedules_per_minute": round(60 * per_s),
        "seeds_per_s": round(per_s, 1),
        "sim_seeds_clean": clean,
    }
    return report("simulator", {"seeds": CLEAN_SEEDS, "faults": 3, "span_s": 20}, figures, {})
