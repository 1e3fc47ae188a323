"""`bench distributed`, `reproduce s2pc-messages`: the cost of an operation on two groups by S2PC-MP and by two-phase commit, counted in simulation,
and the rates of both on real processes (DCFS2 §4.2, Fig. 3)."""

from __future__ import annotations

import asyncio
from collections import Counter
from statistics import median

from benchmarks._cluster import cluster, report
from benchmarks._model import Chart, Experiment, ExperimentOutcome
from nodes.config import SECOND, WorkloadConfig, many_groups
from nodes.metadata.operations import Mkdir
from nodes.sim.cluster import SimCluster
from nodes.trace.events import Called, SharedStep, Stamped
from nodes.wire.messages import CrossGroupMessage

ROUNDS = 5
WARM_S, WINDOW_S = 2.0, 4.0
CALLERS = 16
DIRECTORIES = 40
PAPER = {
    "s2pc_messages": 3.0,
    "s2pc_log_writes": 4.0,
    "two_phase_messages": 5.0,
    "two_phase_log_writes": 5.0,
}
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


def costs(digits: int) -> dict[str, float]:
    """The costs of both protocols."""
    figures: dict[str, float] = {}
    for name, mechanism in (("s2pc", "s2pc_mp"), ("two_phase", "two_phase")):
        messages, writes = cost(mechanism)
        figures |= {f"{name}_messages": round(messages, digits), f"{name}_log_writes": round(writes, digits)}
    return figures


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
    figures = costs(2)
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
    return report("distributed", config, figures, PAPER)


def run(quick: bool) -> ExperimentOutcome:
    figures = costs(3)
    series = {
        f"{label}, {whose}": [(1.0, reported[f"{key}_messages"]), (2.0, reported[f"{key}_log_writes"])]
        for label, key in (("S2PC-MP", "s2pc"), ("two-phase commit", "two_phase"))
        for whose, reported in (("ours", figures), ("the paper's", PAPER))
    }
    chart = Chart(
        "An operation on two groups", "", "each", series, "bars", ["messages", "synchronous log writes"]
    )
    config = {"fabric": "simulated", "groups": 2, "operations": DIRECTORIES}
    return ExperimentOutcome(config, figures, PAPER, chart)


EXPERIMENTS = [
    Experiment("s2pc-messages", "DCFS2 §4.2, Fig. 3", "messages and log writes of a mkdir on two groups", run)
]
