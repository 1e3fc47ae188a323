"""Rates of metadata operations on one active and three standbys; a majority makes every modification durable before its answer.

The bare skeleton of the same shape (`_skeleton`) is measured in turns with them.
"""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import msgspec
import uvloop

from backend.errors import Malformed
from benchmarks._cluster import Bench, cluster, report
from benchmarks._skeleton import BareWindow, Skeleton, skeleton
from benchmarks._skeleton import cpu_s as of_process
from benchmarks._spellings import CLIENT, log_limit
from nodes.config import SECOND, WorkloadConfig, one_group
from nodes.real.clock import monotonic_ns
from nodes.trace.events import Called, Durable, Stamped
from nodes.trace.pool_events import ImageWritten

WINDOWS = 5
WINDOW_S = 5.0
WARM_S = 2.0
QUICK_S = 1.0
"""Window of `quick`, which shows that all of it works, with figures that mean little."""
STILL_S = 0.3
"""Time without a call after which a paused cluster, and what follows its events, does nothing more."""
ASK_S = 20.0
"""Query timeout: a client with many open calls and much to remember answers late."""
PAPER: dict[str, float] = {}
LOG_BYTES = 8 << 30
"""Log size that no run reaches, so that the operations are measured without images. `with_images` measures the cost at the default of 50 MiB,
half of which is full within ten seconds at these rates."""
IMAGES = 2
"""Number of images, measured from the end of the first to the end of the last."""
IMAGES_S = 600.0
INODES = 1_000_000
MEASURE_INODES = """
from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import Made
from nodes.metadata.records import MakeRecord, OpenSessionRecord
from nodes.units import DIRECTORY, ROOT, OpId
import os
resident = lambda: int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
n = Namespace(); n.apply(OpenSessionRecord(OpId("c", 0), 0, 10**18, None)); before = resident()
for i in range({count}):
    parent = ROOT + (0 if i < 1000 else 1 + i % 1000)
    name = f"client1.abcdef0123-{{i}}"
    number = n.tree.next_number | (DIRECTORY if i < 1000 else 0)
    n.apply(MakeRecord(OpId("c", i + 1), i, 10**18 + i, Made(number), parent, [name], number, i < 1000, 0o644))
print((resident() - before) / {count})
"""


class CallCounts:
    """Calls by operation and time of return, and writes of the active."""

    def __init__(self) -> None:
        self.returned: dict[str, list[int]] = {}
        self.latencies: dict[str, list[int]] = {}
        self.calls = 0
        self.failed = 0
        self.groups = 0
        self.records = 0
        self.images = 0

    def on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        if type(event) is Called:
            self.calls += 1
            if event.error:
                self.failed += event.error not in ("ENOENT", "EEXIST")
                return
            kind = event.operation[0]
            self.returned.setdefault(kind, []).append(event.returned_ns)
            self.latencies.setdefault(kind, []).append(event.returned_ns - event.invoked_ns)
        elif type(event) is Durable and event.records:
            self.groups += 1
            self.records += event.records
        elif type(event) is ImageWritten:
            self.images += 1

    def rates(self, kind: str, starts: list[int]) -> list[float]:
        """Operations per second in the window that begins at each of these times."""
        returned = self.returned.get(kind, [])
        ends = [(start, start + int(WINDOW_S * SECOND)) for start in starts]
        return [sum(start <= at_ns < end for at_ns in returned) / WINDOW_S for start, end in ends]

    def clear(self) -> None:
        self.returned.clear()
        self.latencies.clear()
        self.groups = self.records = 0


async def phase(bench: Bench, counted: CallCounts, kind: str) -> float:
    """Median rate of one kind of operation, while the client calls no other."""
    await bench.fabric.ask(CLIENT, {"do": "mix", "mix": {kind: 1}}, ASK_S)
    await asyncio.sleep(WARM_S)
    counted.clear()
    from_ns = monotonic_ns()
    await asyncio.sleep(WINDOWS * WINDOW_S + STILL_S)
    starts = [from_ns + int(place * WINDOW_S * SECOND) for place in range(WINDOWS)]
    return median(counted.rates(kind.capitalize(), starts))


class BesideSkeleton(msgspec.Struct):
    """One kind of operation in turns with the skeleton, window by window."""

    per_s: list[float]
    cpu_us: float
    """Processor time of all servers for each operation."""
    latency_ms: float
    bare: list[BareWindow]

    @property
    def ratio(self) -> float:
        pairs = zip(self.per_s, self.bare, strict=True)
        return round(median(ours / theirs.per_s for ours, theirs in pairs), 3)

    @property
    def latency_ratio(self) -> float:
        return round(self.latency_ms / median(each.latency_ms for each in self.bare), 2)

    @property
    def bare_cpu_us(self) -> float:
        return round(median(each.cpu_us for each in self.bare), 1)


async def beside(
    bench: Bench, counted: CallCounts, bare: Skeleton, kind: str, callers: int
) -> BesideSkeleton:
    """Each window of the cluster is followed by one of the skeleton, for which the cluster pauses."""
    await bench.fabric.ask(CLIENT, {"do": "mix", "mix": {kind: 1}}, ASK_S)
    counted.clear()
    measured: list[BareWindow] = []
    starts: list[int] = []
    used_s = 0.0
    for _ in range(WINDOWS):
        await asyncio.sleep(WARM_S)
        starts.append(monotonic_ns())
        used_s -= cpu_s(bench)
        await asyncio.sleep(WINDOW_S)
        used_s += cpu_s(bench)
        await bench.fabric.ask(CLIENT, {"do": "throttle", "paused": True}, ASK_S)
        await still(counted)
        measured.append(await bare.measure(kind != "stat", callers, WINDOW_S))
        await bench.fabric.ask(CLIENT, {"do": "throttle", "paused": False}, ASK_S)
    name = kind.capitalize()
    rates = counted.rates(name, starts)
    done = max(1.0, sum(rates) * WINDOW_S)
    return BesideSkeleton(
        rates, round(used_s / done * 1e6, 1), median(counted.latencies[name]) / 1e6, measured
    )


async def still(counted: CallCounts) -> None:
    """Returns once no more calls are reported."""
    before = -1
    while before != counted.calls:
        before = counted.calls
        await asyncio.sleep(STILL_S)


async def clients(bench: Bench, count: int, kind: str) -> None:
    await bench.fabric.replace_client(
        WorkloadConfig(clients=count, rate_per_s=0, mix={kind: 1}, directories=64, remembered=2_000_000)
    )


def cpu_s(bench: Bench) -> float:
    """Processor time of the metadata servers, in seconds."""
    return sum(of_process(bench.fabric.pid_of(name)) for name in bench.fabric.home.servers())


def resident_mb(bench: Bench) -> float:
    """Resident memory of the largest metadata server."""
    page = os.sysconf("SC_PAGE_SIZE")
    sizes = []
    for name in bench.fabric.home.servers():
        with open(f"/proc/{bench.fabric.pid_of(name)}/statm") as file:
            sizes.append(int(file.read().split()[1]) * page)
    return max(sizes) / 2**20


async def measure(figures: dict[str, float], bare: Skeleton) -> list[str]:
    counted = CallCounts()
    async with cluster(counted.on_event, config=one_group(**log_limit(LOG_BYTES))) as bench:
        await clients(bench, 32, "mkdir")
        await bench.until(lambda: len(counted.returned.get("Mkdir", [])) >= 10_000)
        figures["rss_mb_per_server"] = round(resident_mb(bench), 1)
        at_32 = await beside(bench, counted, bare, "mkdir", 32)
        figures["mkdir_per_s"] = median(at_32.per_s)
        figures["skeleton_ratio_32"] = at_32.ratio
        figures["cpu_us_per_mkdir"] = at_32.cpu_us
        figures["skeleton_cpu_us"] = at_32.bare_cpu_us
        figures["records_per_group"] = round(counted.records / max(1, counted.groups), 1)
        stat = await beside(bench, counted, bare, "stat", 32)
        figures["stat_per_s"] = median(stat.per_s)
        figures["skeleton_ratio_stat"] = stat.ratio
        figures["cpu_us_per_stat"] = stat.cpu_us
        figures["skeleton_cpu_us_stat"] = stat.bare_cpu_us
        for kind in ("create", "rename", "delete"):
            figures[f"{kind}_per_s"] = await phase(bench, counted, kind)
        await clients(bench, 128, "mkdir")
        at_128 = await beside(bench, counted, bare, "mkdir", 128)
        figures["mkdir_per_s_128"] = median(at_128.per_s)
        figures["skeleton_ratio_128"] = at_128.ratio
        figures["cpu_us_per_mkdir_128"] = at_128.cpu_us
        figures["skeleton_cpu_us_128"] = at_128.bare_cpu_us
        await clients(bench, 1, "mkdir")
        at_1 = await beside(bench, counted, bare, "mkdir", 1)
        figures["mkdir_ms_p50_1"] = round(at_1.latency_ms, 3)
        figures["skeleton_latency_ratio"] = at_1.latency_ratio
        figures["cpu_us_per_mkdir_1"] = at_1.cpu_us
        figures["skeleton_cpu_us_1"] = at_1.bare_cpu_us
        figures["failed_calls"] = counted.failed
        return bench.broken()


async def beside_skeleton(figures: dict[str, float]) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="cloverlab-bench-", dir=os.environ.get("TMPDIR")) as directory:
        async with skeleton(Path(directory)) as bare:
            return await measure(figures, bare)


async def with_images(figures: dict[str, float]) -> list[str]:
    """Mean rate of mkdir with the log size of an ordinary cluster, over some images and the time between them, and the longest call."""
    counted = CallCounts()
    async with cluster(counted.on_event, config=one_group()) as bench:
        await clients(bench, 32, "mkdir")
        await bench.until(lambda: counted.images > 0, IMAGES_S)
        counted.clear()
        from_ns = monotonic_ns()
        await bench.until(lambda: counted.images > IMAGES, IMAGES_S)
        made = counted.latencies["Mkdir"]
        figures["mkdir_per_s_images"] = round(len(made) * SECOND / (monotonic_ns() - from_ns), 1)
        figures["mkdir_ms_max_images"] = round(max(made) / 1e6, 1)
        figures["failed_calls"] += counted.failed
        return bench.broken()


def bytes_per_inode() -> float:
    reported = subprocess.run(
        [sys.executable, "-c", MEASURE_INODES.format(count=INODES)],
        capture_output=True,
        text=True,
        check=True,
    )
    return round(float(reported.stdout))


def main(how: str = "") -> int:
    """Prints one JSON object. `quick`: short windows, without images. Raises Malformed."""
    global WINDOW_S, WARM_S
    if how not in ("", "quick"):
        raise Malformed(f"bench metadata {how[:40]!r} is unknown; there is quick")
    if how:
        WINDOW_S, WARM_S = QUICK_S, QUICK_S / 2
    gc.set_threshold(200_000, 50, 1000)
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    figures: dict[str, Any] = {}
    broken = uvloop.run(beside_skeleton(figures))
    if not how:
        broken += uvloop.run(with_images(figures))
        figures["bytes_per_inode"] = bytes_per_inode()
    figures["broken_checks"] = len(broken)
    config = {"standbys": 3, "concurrent": 32, "windows": WINDOWS, "window_s": WINDOW_S}
    return report("metadata", config, figures, PAPER)
