"""A cluster that is left alone: what grows in an hour of twenty times the default load, in a virtual week, and how its page opens after a week."""

from __future__ import annotations

import asyncio
import gc
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
import uvloop

from backend.errors import Malformed
from backend.fabrics.watched_cluster import GENTLE, wait_until
from backend.lab import Lab
from backend.settings import Settings
from backend.startup import GC_THRESHOLDS
from benchmarks import _week
from benchmarks._cluster import report
from nodes.config import SECOND, one_group
from nodes.invariants import registry
from nodes.sim.cluster import SimCluster

MINUTES = 60.0
VIRTUAL_HOURS = 168.0
TIMES = 20
VIRTUAL_PER_S = 5.0
SAMPLES = 60
"""Samples of each part; growth is the median of the last third less that of the third before."""
GREEN_S = 60.0
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Sample(msgspec.Struct):
    rss_mb: dict[str, float]
    """Resident memory by process."""
    disk_mb: dict[str, float]
    """Bytes on disk by kind of file."""
    fds: int


def rss_mb(pid: int | str) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES / 1e6


def descriptors(pid: int | str) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def kind_of(path: Path, root: Path) -> str:
    parts = path.relative_to(root).parts
    return parts[2] if parts[0] == "servers" and len(parts) > 3 else parts[0]


def disk_mb(root: Path) -> dict[str, float]:
    found: dict[str, float] = {}
    for directory, _, names in os.walk(root):
        for name in names:
            path = Path(directory, name)
            try:
                size = path.lstat().st_size
            except FileNotFoundError:
                continue
            kind = kind_of(path, root)
            found[kind] = found.get(kind, 0.0) + size / 1e6
    return found


def sample(lab: Lab) -> Sample:
    names = {"control": os.getpid(), **{name: lab.fabric.pid_of(name) for name in lab.fabric.states()}}
    alive = {name: pid for name, pid in names.items() if pid}
    return Sample(
        {name: rss_mb(pid) for name, pid in alive.items()},
        disk_mb(lab.home.path),
        sum(descriptors(pid) for pid in alive.values()),
    )


def growth(values: list[float]) -> float:
    """Between the second third and the last one: the first is the filling of what is bounded."""
    third = max(1, len(values) // 3)
    return round(median(values[-third:]) - median(values[-2 * third : -third] or values), 2)


def growths(samples: list[Sample], of: Callable[[Sample], dict[str, float]]) -> dict[str, float]:
    keys = {key for each in samples for key in of(each)}
    return {key: growth([of(each).get(key, 0.0) for each in samples]) for key in sorted(keys)}


async def on_processes(minutes: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="cloverlab-soak-", dir=os.environ.get("TMPDIR")) as directory:
        lab = await Lab.open(Settings(Path(directory)))
        lab.fabric.workload = msgspec.structs.replace(GENTLE, rate_per_s=GENTLE.rate_per_s * TIMES)
        try:
            await lab.start()
            if not await wait_until(lab.fabric.settled, GREEN_S):
                raise TimeoutError("the cluster did not settle")
            samples = []
            for _ in range(SAMPLES):
                await asyncio.sleep(minutes * 60 / SAMPLES)
                samples.append(sample(lab))
            broken = [each["invariant"] for each in lab.checks.invariants() if each["state"] == "red"]
            calls = lab.buckets.ok_total
        finally:
            await lab.stop()
    rss, disk = growths(samples, lambda each: each.rss_mb), growths(samples, lambda each: each.disk_mb)
    return {
        "calls_per_s": round(calls / (minutes * 60)),
        "rss_growth_mb": round(max(rss.values()), 2),
        "rss_growth_mb_by_process": rss,
        "rss_mb": {name: round(value, 1) for name, value in samples[-1].rss_mb.items()},
        "disk_growth_mb": round(sum(disk.values()), 2),
        "disk_growth_mb_by_kind": disk,
        "disk_mb": {name: round(value, 2) for name, value in samples[-1].disk_mb.items()},
        "fds_growth": growth([float(each.fds) for each in samples]),
        "violated": broken,
    }


def in_virtual_time(hours: float) -> dict[str, Any]:
    """One process has all servers, their disks and the checks."""
    config = one_group()
    cluster = SimCluster(config, 1, msgspec.structs.replace(GENTLE, rate_per_s=VIRTUAL_PER_S))
    checks = registry.start(config)
    cluster.on_event(checks.on_event)
    cluster.run_until(cluster.settled, 20 * SECOND)
    began, memory, disk = time.process_time(), [], []
    for _ in range(SAMPLES):
        end_ns = cluster.now_ns + round(hours * 3_600 * SECOND / SAMPLES)
        while cluster.now_ns < end_ns:
            cluster.run_for(min(60 * SECOND, end_ns - cluster.now_ns))
            cluster.events.clear()
        gc.collect()
        memory.append(rss_mb("self"))
        stores = [server.store for server in cluster.servers.values()]
        disk.append(sum(len(file.data) for store in stores for file in store.files.values()) / 1e6)
    return {
        "virtual_hours": hours,
        "virtual_processor_s": round(time.process_time() - began),
        "virtual_rss_growth_mb": growth(memory),
        "virtual_rss_mb": round(memory[-1], 1),
        "virtual_disk_growth_mb": growth(disk),
        "virtual_violated": [failure.explanation for failure in checks.failures],
    }


def main(minutes: str = str(MINUTES), hours: str = str(VIRTUAL_HOURS)) -> int:
    try:
        lasting_m, lasting_h = float(minutes), float(hours)
    except ValueError:
        raise Malformed(f"{minutes!r} or {hours!r} is no number of minutes, or of virtual hours") from None
    gc.set_threshold(*GC_THRESHOLDS)
    figures = uvloop.run(on_processes(lasting_m)) if lasting_m > 0 else {}
    figures |= in_virtual_time(lasting_h) if lasting_h > 0 else {}
    figures |= uvloop.run(_week.opened())
    config = {
        "minutes": lasting_m,
        "times": TIMES,
        "virtual_hours": lasting_h,
        "virtual_per_s": VIRTUAL_PER_S,
    }
    return report("soak", config, figures, {})
