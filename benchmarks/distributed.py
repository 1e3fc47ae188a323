"""Operations on two groups: the cost of one by S2PC-MP and by two-phase commit, and the rates of both on real processes (DCFS2 §4.2)."""

from __future__ import annotations

import asyncio
from collections import Counter
from statistics import median

from benchmarks.running import cluster, report
from nodes.config import SECOND, WorkloadConfig, many_groups
from nodes.metadata.operations import Mkdir
from nodes.sim.cluster import SimCluster
from nodes.trace.events import Called, SharedStep, Stamped
from nodes.wire.messages import CrossGroupMessage

ROUNDS = 5
WARM_S, WINDOW_S = 2.0, 4.0
CALLERS = 16
DIRECTORIES = 40
MECHANISMS = ("s2pc_mp", "two_phase")


def cost(cross_group: str) -> tuple[float, float]:
    """Messages between the groups and log records of one mkdir at a branch point, counted over many in the simulator."""
    simulated = SimCluster(many_groups(2, 1, placement="random", cross_group=cross_group), 1)
    simulated.run_until(simulated.settled)
    client = simulated.start_client("client1")
    sent = 0

    def count(sender: str, receiver: str, message: object) -> bool:
        nonlocal sent
        sent += isinstance(message, CrossGroupMessage)
        return False

    simulated.hold(count)
    for number in range(DIRECTORIES):
        client.call(Mkdir(f"/{number}"))
    simulated.run_for(SECOND)
    steps = Counter(s.event.step for s in simulated.events if type(s.event) is SharedStep)
    return sent / steps["begin"], steps.total() / steps["begin"]


async def rate(cross_group: str) -> tuple[float, int]:
    """Rate of mkdir per second over two groups of two servers, half of them at branch points; and the number of violated invariants."""
    returned: list[int] = []

    def on_event(stamped: Stamped) -> None:
        event = stamped.event
        if type(event) is Called and not event.error and event.operation[0] == "Mkdir":
            returned.append(event.returned_ns)

    config = many_groups(2, 1, placement="random", cross_group=cross_group)
    workload = WorkloadConfig(clients=CALLERS, rate_per_s=0, mix={"mkdir": 1}, directories=64)
    async with cluster(on_event, workload=workload, config=config) as bench:
        await asyncio.sleep(WARM_S)
        before = len(returned)
        await asyncio.sleep(WINDOW_S)
        return (len(returned) - before) / WINDOW_S, len(bench.broken())


def main() -> int:
    """Prints one JSON object."""
    figures: dict[str, float] = {}
    for name, words in (("s2pc", "s2pc_mp"), ("two_phase", "two_phase")):
        messages, writes = cost(words)
        figures[f"{name}_messages"], figures[f"{name}_log_writes"] = round(messages, 2), round(writes, 2)
    rates: dict[str, list[float]] = {mechanism: [] for mechanism in MECHANISMS}
    broken = 0
    for _ in range(ROUNDS):
        for mechanism in MECHANISMS:
            per_s, failed = asyncio.run(rate(mechanism))
            rates[mechanism].append(per_s)
            broken += failed
    figures["mkdir_per_s_s2pc"] = round(median(rates["s2pc_mp"]))
    figures["mkdir_per_s_two_phase"] = round(median(rates["two_phase"]))
    figures["mkdir_ratio"] = round(median(rates["s2pc_mp"]) / median(rates["two_phase"]), 3)
    figures["broken_checks"] = broken
    config = {"groups": 2, "servers": 4, "placement": "random", "concurrent": CALLERS, "rounds": ROUNDS}
    paper: dict[str, float] = {"s2pc_messages": 3, "s2pc_log_writes": 4, "two_phase_messages": 5}
    return report("distributed", config, figures, paper)
