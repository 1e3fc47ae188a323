"""Random faults on the simulator, seed after seed, for every family that must lose nothing: how many seeds are clean."""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from backend.errors import Malformed
from benchmarks.running import group_of, report
from nodes.config import SECOND, ClusterConfig, Timing, WorkloadConfig, many_groups
from nodes.families import FAMILIES
from nodes.mechanisms import CROSS_GROUP
from nodes.sim.explore import Explorer, random_plan

SEEDS = 1_000
FAULTS = 4
CHUNK = 5
LOSES = tuple(name for name, family in FAMILIES.items() if not family.promises)
"""There is no clean seed to be counted."""
MIX: dict[str, float] = {"create": 5, "mkdir": 1, "stat": 3, "rename": 1, "delete": 1, "list": 1}
ACROSS: dict[str, float] = {
    **MIX,
    "mkdir": 3,
    "rename": 2,
    "link": 2,
    "move": 2,
    "rmdir": 1,
    "move_directory": 1,
}
READS: dict[str, float] = {"stat": 1, "list": 1}


def config_of(name: str) -> ClusterConfig:
    """One group of a family; of `mams/MECHANISM` two, whose operations cross by that mechanism."""
    if "/" in name:
        return many_groups(2, 2, placement="random", cross_group=name.partition("/")[2])
    family = FAMILIES[name]
    timing = Timing(heartbeat_ms=1_000, session_timeout_ms=3_000) if family.journal_nodes else Timing()
    return group_of(name, min(2, family.standbys), timing=timing)


def names() -> list[str]:
    across = [f"mams/{mechanism}" for mechanism in CROSS_GROUP]
    return [*(name for name in FAMILIES if name not in LOSES), *across]


def explorer_of(name: str) -> Explorer:
    if "/" in name:
        return Explorer(
            config_of(name),
            WorkloadConfig(clients=6, rate_per_s=40, mix=ACROSS, directories=4),
            reader=WorkloadConfig(clients=2, rate_per_s=10, mix=READS, directories=4),
        )
    reader = WorkloadConfig(clients=2, rate_per_s=20, mix=READS)
    return Explorer(config_of(name), WorkloadConfig(clients=4, rate_per_s=10, mix=MIX), 15 * SECOND, reader)


def play(name: str, seed: int) -> str:
    """What was wrong; empty when the seed is clean."""
    explorer = explorer_of(name)
    outcome, _ = explorer.run(seed, random_plan(seed, explorer.config, explorer.span_ns, FAULTS))
    if outcome.clean:
        return ""
    broken = ", ".join(sorted({failure.invariant for failure in outcome.failures}))
    return outcome.trouble or broken or f"{outcome.failed_calls} calls failed"


def main(seeds: str = str(SEEDS), families: str = "") -> int:
    """`seeds`: how many, or FIRST..LAST; `families`: some of them, with commas. Prints one JSON object."""
    first, _, last = seeds.rpartition("..")
    chosen = families.split(",") if families else names()
    unknown = [name for name in chosen if name not in names()]
    try:
        span = range(int(first), int(last) + 1) if first else range(int(last))
    except ValueError:
        span = range(0)
    if unknown or not span:
        wrong = f"no family {unknown[0][:40]!r}" if unknown else f"no seeds {seeds[:40]!r}"
        raise Malformed(f"{wrong}; right would be 1000 or 1..1000 and some of {','.join(names())}")
    figures: dict[str, int | float] = {}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for name in chosen:
            began, clean = time.monotonic(), 0
            for seed, wrong in zip(span, pool.map(partial(play, name), span, chunksize=CHUNK), strict=True):
                clean += not wrong
                if wrong:
                    print(f"{name} seed {seed}: {wrong}", file=sys.stderr, flush=True)
            figures[f"{name} clean"] = clean
            took_s = time.monotonic() - began
            print(f"{name}: {clean} of {len(span)} clean, {took_s:.0f} s", file=sys.stderr, flush=True)
    report("seeds", {"seeds": len(span), "faults": FAULTS}, figures, {})
    return 0 if all(clean == len(span) for clean in figures.values()) else 1
