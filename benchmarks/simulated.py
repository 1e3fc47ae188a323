"""Simulated clusters at real-time speed on one core: how many a worker carries, and their memory."""

from __future__ import annotations

import asyncio
import resource
import tempfile
import time
from pathlib import Path

import msgspec

from backend.errors import Malformed
from backend.fabrics.watched_cluster import GENTLE, wait_until
from backend.simulated.inputs import ClusterOrigin
from backend.simulated.messages import ClusterProgress, CreateCluster, Report
from backend.simulated.workers import WorkerLink, Workers
from benchmarks._cluster import report
from nodes.config import many_groups

CLUSTERS = 50
START_S = 120.0
WARM_S = 15.0
MEASURED_S = 30.0
STANDBYS = 3
RATE_PER_S = 5.0
KEEPS_UP = 0.98
"""Share of real time below which a cluster does not keep up."""
TICKS_PER_S = 100
PAGE_BYTES = resource.getpagesize()


class ClusterInstants:
    """The newest instant of every cluster, and the number of events."""

    def __init__(self) -> None:
        self.now_ns: dict[str, int] = {}
        self.events = 0
        self.ended: list[str] = []

    def __call__(self, reported: Report) -> None:
        if isinstance(reported, ClusterProgress):
            self.now_ns[reported.cluster] = reported.clock.now_ns
            self.events += len(reported.events)
        else:
            self.ended.append(str(reported))


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


def rss_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES


async def measured(count: int, directory: Path) -> dict[str, float]:
    """Figures of so many clusters of one active and three standbys in one worker."""
    load = msgspec.structs.replace(GENTLE, clients=2, rate_per_s=RATE_PER_S, objects=200)
    workers, seen = Workers(1), ClusterInstants()
    try:
        for number in range(count):
            name = f"c{number}"
            link = await workers.place(name, seen)
            origin = ClusterOrigin(many_groups(1, STANDBYS, cluster=name), number, load)
            link.send(CreateCluster(name, origin, str(directory / f"{number}.jsonl")))
        if not await wait_until(lambda: len(seen.now_ns) == count, START_S):
            raise Malformed(f"{count - len(seen.now_ns)} clusters did not start; {seen.ended[:1]}")
        await asyncio.sleep(WARM_S)
        return await observed(link, seen, count)
    finally:
        await workers.stop()


async def observed(link: WorkerLink, seen: ClusterInstants, count: int) -> dict[str, float]:
    began_s, before, events = time.monotonic(), dict(seen.now_ns), seen.events
    used_s, rss = cpu_s(link.pid), rss_bytes(link.pid)
    await asyncio.sleep(MEASURED_S)
    passed_s = time.monotonic() - began_s
    speeds = [(seen.now_ns[name] - at_ns) / passed_s / 1e9 for name, at_ns in before.items()]
    busy = (cpu_s(link.pid) - used_s) / passed_s
    return {
        "clusters": count,
        "slowest_speed": round(min(speeds), 3),
        "keep_up_share": round(sum(speed >= KEEPS_UP for speed in speeds) / count, 3),
        "core_share": round(busy, 3),
        "clusters_per_core": int(sum(speeds) / busy),
        "events_per_s": round((seen.events - events) / passed_s, 1),
        "worker_rss_mb": round(rss_bytes(link.pid) / 2**20, 1),
        "rss_growth_mb_per_min": round((rss_bytes(link.pid) - rss) / 2**20 / passed_s * 60, 2),
    }


def main(clusters: str = str(CLUSTERS)) -> int:
    """`clusters`: how many run at once."""
    if not clusters.isdigit() or not 1 <= int(clusters) <= 1_000:
        raise Malformed(f"bench simulated takes a number of clusters from 1 to 1000, not {clusters[:40]!r}")
    with tempfile.TemporaryDirectory(prefix="cloverlab-simulated-") as directory:
        figures = asyncio.run(measured(int(clusters), Path(directory)))
    config = {"standbys": STANDBYS, "rate_per_s": RATE_PER_S, "warm_s": WARM_S, "measured_s": MEASURED_S}
    return report("simulated", config, figures, {})
