"""Speed of the simulator: delivered messages, operations, virtual seconds and schedules per second of one core.

It also measures earlier versions (`bench before`): names that they spell differently come from `_spellings`.
"""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable
from contextlib import suppress
from heapq import heappop, heappush
from statistics import median
from typing import Any

from benchmarks._cluster import report
from benchmarks._spellings import FAULT_UNSUPPORTED
from nodes.config import SECOND, WorkloadConfig, one_group
from nodes.invariants import registry
from nodes.sim.cluster import SimCluster
from nodes.wire.codec import Codec
from nodes.wire.messages import Message

SCHEDULES = 100
SPAN_S = 20
FAULTS = 3
SETTLE_NS = 120 * SECOND
HALF_READS: dict[str, float] = {"stat": 5, "create": 4, "mkdir": 1}
MIX: dict[str, float] = {"create": 5, "mkdir": 1, "stat": 3, "rename": 1, "delete": 1, "list": 1}
TWO_HUNDRED_CALLS = WorkloadConfig(clients=4, rate_per_s=10, mix=MIX)
UNDER_WAY = 4
"""Frames under way at once in the bare loop, as in a group with one caller."""
VERBS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("crash", {}),
    ("power_loss", {}),
    ("pause", {}),
    ("expire_session", {}),
    ("cut", {}),
    ("lose", {"share": 0.5}),
    ("slow_disk", {"ms": 20}),
)
"""Faults on one server each; a cut server is cut off from all others."""


def started(workload: WorkloadConfig | None, seed: int = 1) -> SimCluster:
    """One active and three standbys in step, with the checks on."""
    config = one_group()
    cluster = SimCluster(config, seed, workload)
    invariants = registry.start(config)
    cluster.on_event(invariants.on_event)
    cluster.run_until(cluster.settled, 20 * SECOND)
    return cluster


def warm(workload: WorkloadConfig | None) -> SimCluster:
    """A cluster that has been running for a while, with little garbage of earlier ones."""
    gc.collect()
    cluster = started(workload)
    cluster.run_for(2 * SECOND)
    return cluster


def messages_per_s(seconds: float, callers: int) -> float:
    """Messages per second, with codec, trace and checks; half of the calls are reads, and there are no faults. With one caller every write is a
    group of its own, so messages are most of the work; with more callers the operations are."""
    cluster = warm(WorkloadConfig(clients=callers, rate_per_s=0, mix=HALF_READS))
    before, began = cluster.net.delivered, time.process_time()
    while time.process_time() - began < seconds:
        cluster.run_for(SECOND // 20)
        cluster.events.clear()
    return (cluster.net.delivered - before) / (time.process_time() - began)


def ops_per_s(seconds: float) -> float:
    """Operations per second that eight callers reach."""
    cluster = warm(WorkloadConfig(clients=8, rate_per_s=0, mix=MIX))
    assert cluster.workload is not None
    before, began = sum(cluster.workload.counts().values()), time.process_time()
    while time.process_time() - began < seconds:
        cluster.run_for(SECOND // 20)
        cluster.events.clear()
    return (sum(cluster.workload.counts().values()) - before) / (time.process_time() - began)


def virtual_s_per_s(seconds: float) -> float:
    """Seconds of virtual time per second without calls: heartbeats, leases, timers."""
    cluster = warm(None)
    before, began = cluster.now_ns, time.process_time()
    while time.process_time() - began < seconds:
        cluster.run_for(10 * SECOND)
    return (cluster.now_ns - before) / SECOND / (time.process_time() - began)


class Recorder:
    """A codec that keeps the messages of each frame that it encodes."""

    def __init__(self, codec: Codec):
        self._encode = codec.encode
        self.decode = codec.decode
        self.frames: list[list[Message]] = []

    def encode(self, messages: list[Message]) -> bytes:
        self.frames.append(list(messages))
        return self._encode(messages)


def recorded(seconds: int) -> tuple[Codec, list[list[Message]]]:
    """The frames of so many virtual seconds of `messages_per_s` with one caller, and their codec."""
    cluster = warm(WorkloadConfig(clients=1, rate_per_s=0, mix=HALF_READS))
    codec = cluster.net.codec
    recorder = Recorder(codec)
    cluster.net.codec = recorder  # type: ignore[assignment]
    cluster.run_for(seconds * SECOND)
    return codec, recorder.frames


def bare_messages_per_s(codec: Codec, frames: list[list[Message]], seconds: float) -> float:
    """Messages per second of a bare loop: these frames are encoded, put in order of arrival, decoded, and each message is given to the handler
    of its kind, which counts it. There are no servers, disks, traces or checks."""
    counted = dict.fromkeys((type(message) for frame in frames for message in frame), 0)

    def handler(kind: type[Message]) -> Callable[[Message], None]:
        def count(message: Message) -> None:
            counted[kind] += 1

        return count

    handlers = {kind: handler(kind) for kind in counted}
    timers: list[tuple[int, int, bytes]] = []
    number = 0
    began = time.process_time()
    while time.process_time() - began < seconds:
        for frame in frames:
            number += 1
            heappush(timers, (number + number * 7 % 5, number, codec.encode(frame)))
            if len(timers) < UNDER_WAY:
                continue
            for message in codec.decode(heappop(timers)[2]):
                handlers[type(message)](message)
    return sum(counted.values()) / (time.process_time() - began)


def beside_bare_loop(rounds: int, seconds: float) -> tuple[float, float]:
    """Messages per second with one caller, and the median of its ratios to the bare loop, in turns."""
    codec, frames = recorded(1)
    rates, ratios = list[float](), list[float]()
    for _ in range(rounds):
        rates.append(messages_per_s(seconds, 1))
        ratios.append(rates[-1] / bare_messages_per_s(codec, frames, seconds / 2))
    return median(rates), median(ratios)


def schedule(seed: int) -> None:
    """Runs 200 calls with three faults in twenty seconds, then undoes the faults until the cluster is in step. Raises Stuck."""
    rng = random.Random(seed)
    cluster = started(TWO_HUNDRED_CALLS, seed)
    begins = sorted(rng.sample(range(1, SPAN_S - 1), FAULTS))
    start_ns = cluster.now_ns
    for at_s in begins:
        verb, options = rng.choice(VERBS)
        cluster.run_until(start_ns + at_s * SECOND)
        with suppress(FAULT_UNSUPPORTED):
            cluster.faults.do(verb, [rng.choice(cluster.config.groups[0].members)], options)
    cluster.run_until(start_ns + SPAN_S * SECOND)
    mend(cluster)
    cluster.run_until(cluster.settled, SETTLE_NS)


def mend(cluster: SimCluster) -> None:
    cluster.faults.heal_all()
    for name, server in cluster.servers.items():
        if server.process == "paused":
            cluster.faults.resume(name)
        elif server.process == "stopped":
            cluster.faults.restart(name)


def schedules_per_minute(count: int) -> float:
    began = time.process_time()
    for seed in range(count):
        schedule(seed)
    return 60 * count / (time.process_time() - began)


def main() -> int:
    """Prints one JSON object."""
    gc.set_threshold(200_000, 50, 1000)
    per_s, ratio = beside_bare_loop(3, 2)
    figures: dict[str, Any] = {
        "schedules_per_minute": round(schedules_per_minute(SCHEDULES)),
        "messages_per_s": round(per_s),
        "sim_ratio": round(ratio, 3),
        "messages_per_s_8_callers": round(median(messages_per_s(2, 8) for _ in range(3))),
        "ops_per_s": round(median(ops_per_s(2) for _ in range(3))),
        "virtual_s_per_s": round(median(virtual_s_per_s(2) for _ in range(3))),
    }
    return report("simulator", {"schedules": SCHEDULES, "faults": FAULTS, "span_s": SPAN_S}, figures, {})
