"""Conditions of a trial: latencies, background loss, disks."""

from __future__ import annotations

import random

from nodes.sim.conditions import CALM, DISK, NETWORK, Conditions, Latency

FAR = Latency(2_000, 3_000, 0.02, 40_000)
NEAR = Latency(5, 10, 0.0, 0)
JITTERY = Latency(40, 20_000, 0.1, 60_000)
FLASH = Latency(20, 30, 0.001, 2_000)
SPINNING = Latency(4_000, 8_000, 0.02, 100_000)
SLOW_COORDINATION = Latency(10_000, 20_000, 0.05, 100_000)


def draw_conditions(rng: random.Random) -> Conditions:
    """Draws conditions. A third of the seeds has no disturbances, so that a failure is due to its faults alone."""
    if rng.random() < 0.33:
        return CALM
    return Conditions(
        network=rng.choice((NETWORK, NETWORK, NEAR, FAR, JITTERY)),
        coordination=rng.choice((NETWORK, NETWORK, FAR, SLOW_COORDINATION)),
        sync=rng.choice((DISK, FLASH, SPINNING)),
        lose=rng.choice((0.0, 0.0, 0.001, 0.02)),
        duplicate=rng.choice((0.0, 0.0, 0.01, 0.1)),
        reorder=rng.choice((0.0, 0.0, 0.01, 0.2)),
    )
