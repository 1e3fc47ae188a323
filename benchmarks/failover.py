"""Actives that die, then actives that fall silent, one after the other: the phases of each failover, and the gap that clients see (CFS §5.4)."""

from __future__ import annotations

import asyncio
import gc
import sys
from typing import Any

import uvloop

from backend.errors import Malformed
from backend.events.failovers import Failover, Failovers
from benchmarks._cluster import Make, cluster, processes, quantile, report
from benchmarks._spellings import CLIENT
from nodes.config import ClusterConfig, Timing, WorkloadConfig, one_group
from nodes.trace.events import Called, Stamped

ROUNDS, ROUNDS_MOST = 20, 10_000
MEMBERS = one_group(detection="members", timing=Timing())
PAPER = {"switch_ms_p50": 100.0, "switch_ms_p99": 350.0}


class Gaps:
    """The longest time without an answer since the last `begin`."""

    def __init__(self) -> None:
        self.longest_ns = 0
        self._last_ns = 0

    def on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        if type(event) is Called and not event.error:
            if self._last_ns:
                self.longest_ns = max(self.longest_ns, event.returned_ns - self._last_ns)
            self._last_ns = max(self._last_ns, event.returned_ns)

    def begin(self) -> None:
        self.longest_ns = 0


async def measure(
    rounds: int,
    verb: str = "crash",
    undo: str = "restart",
    config: ClusterConfig = MEMBERS,
    make: Make = processes,
) -> tuple[list[Failover], list[float], int]:
    """The phases of each failover, its longest gap in milliseconds, and the number of failed calls and violated invariants."""
    splits: dict[int, Failover] = {}
    follower = Failovers(lambda fault_ns, split: splits.__setitem__(split.epoch, split))
    gaps = Gaps()
    failed = 0

    def on_event(stamped: Stamped) -> None:
        nonlocal failed
        follower.on_event(stamped)
        gaps.on_event(stamped)
        failed += type(stamped.event) is Called and stamped.event.error == "ETIMEDOUT"

    seen: list[float] = []
    found: list[Failover] = []
    async with cluster(
        on_event, workload=WorkloadConfig(clients=4, rate_per_s=200), config=config, make=make
    ) as bench:
        assert bench.fabric.state_of(CLIENT) == "running"
        await asyncio.sleep(2)
        for number in range(rounds):
            gaps.begin()
            splits.clear()
            active = bench.fabric.picture.groups["g1"].active
            await bench.faults.do(verb, [active])
            await bench.until(lambda: any(split.reconnect_ms is not None for split in splits.values()))
            await asyncio.sleep(0.3)
            seen.append(gaps.longest_ns / 1e6)
            found.append(max(splits.values(), key=lambda split: split.epoch))
            await bench.faults.do(undo, [active])
            await bench.until(bench.fabric.settled)
            await asyncio.sleep(0.3)
            print(f"{number + 1}/{rounds}", end="\r", file=sys.stderr)
        failed += len(bench.broken())
    return found, seen, failed


def main(rounds: str = str(ROUNDS)) -> int:
    """Prints one JSON object. Raises Malformed for a wrong number of rounds."""
    if not rounds.isdigit() or not 0 < int(rounds) <= ROUNDS_MOST:
        raise Malformed(
            f"bench failover takes a number of rounds from 1 to {ROUNDS_MOST}, not {rounds[:40]!r}"
        )
    count = int(rounds)
    gc.set_threshold(200_000, 50, 1000)
    killed, kill_gaps, failed = uvloop.run(measure(count))
    _, silent_gaps, failed_silent = uvloop.run(measure(count, "pause", "resume"))
    switches = [split.election_ms + split.switch_ms for split in killed]
    figures: dict[str, Any] = {
        **quantiles("kill_gap_ms", kill_gaps),
        **quantiles("silent_gap_ms", silent_gaps),
        **quantiles("switch_ms", switches),
        "election_ms_p50": round(quantile([split.election_ms for split in killed], 0.5), 1),
        "detection_ms_p50": round(quantile([split.detection_ms for split in killed], 0.5), 1),
        "reconnect_ms_p50": round(quantile([split.reconnect_ms or 0.0 for split in killed], 0.5), 1),
        "rounds": count,
        "failed_calls_and_checks": failed + failed_silent,
    }
    timing = MEMBERS.timing
    config = {
        "standbys": 3, "detection": MEMBERS.detection, "grant_ms": timing.grant_ms,
        "session_timeout_ms": timing.session_timeout_ms, "rate_per_s": 200,
    }  # fmt: skip
    return report("failover", config, figures, PAPER)


def quantiles(name: str, values: list[float]) -> dict[str, float]:
    return {
        f"{name}_p50": round(quantile(values, 0.5), 1),
        f"{name}_p99": round(quantile(values, 0.99), 1),
    }
