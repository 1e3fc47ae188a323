"""Rates of metadata operations on one active and three standbys; a majority makes every modification durable before its answer."""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import subprocess
import sys
from statistics import median
from typing import Any

import uvloop

from benchmarks._cluster import Bench, cluster, quantile, report
from benchmarks._spellings import CLIENT, log_limit
from nodes.config import SECOND, WorkloadConfig, one_group
from nodes.real.clock import monotonic_ns
from nodes.trace.events import Called, Durable, Stamped
from nodes.trace.pool_events import ImageWritten

WINDOWS = 5
WINDOW_S = 5.0
WARM_S = 2.0
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
        self.failed = 0
        self.groups = 0
        self.records = 0
        self.images = 0

    def on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        if type(event) is Called:
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

    def rates(self, kind: str, from_ns: int) -> list[float]:
        """Operations per second in each window after `from_ns`."""
        window_ns = int(WINDOW_S * SECOND)
        counts = [0] * WINDOWS
        for at_ns in self.returned.get(kind, []):
            place = (at_ns - from_ns) // window_ns
            if 0 <= place < WINDOWS:
                counts[place] += 1
        return [count / WINDOW_S for count in counts]

    def clear(self) -> None:
        self.returned.clear()
        self.latencies.clear()
        self.groups = self.records = 0


async def phase(bench: Bench, counted: CallCounts, kind: str) -> float:
    """Median rate of one kind of operation, while the client calls no other."""
    name = kind.capitalize()
    await bench.fabric.ask(CLIENT, {"do": "mix", "mix": {kind: 1}}, ASK_S)
    await asyncio.sleep(WARM_S)
    counted.clear()
    from_ns = monotonic_ns()
    await asyncio.sleep(WINDOWS * WINDOW_S + 0.3)
    return median(counted.rates(name, from_ns))


async def clients(bench: Bench, count: int, kind: str) -> None:
    await bench.fabric.replace_client(
        WorkloadConfig(clients=count, rate_per_s=0, mix={kind: 1}, directories=64, remembered=2_000_000)
    )


def cpu_s(bench: Bench) -> float:
    """Processor time of the metadata servers, in seconds."""
    ticks = 0
    for name in bench.fabric.home.servers():
        with open(f"/proc/{bench.fabric.pid_of(name)}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def resident_mb(bench: Bench) -> float:
    """Resident memory of the largest metadata server."""
    page = os.sysconf("SC_PAGE_SIZE")
    sizes = []
    for name in bench.fabric.home.servers():
        with open(f"/proc/{bench.fabric.pid_of(name)}/statm") as file:
            sizes.append(int(file.read().split()[1]) * page)
    return max(sizes) / 2**20


async def measure(figures: dict[str, float]) -> list[str]:
    counted = CallCounts()
    async with cluster(counted.on_event, config=one_group(**log_limit(LOG_BYTES))) as bench:
        await clients(bench, 1, "mkdir")
        await phase(bench, counted, "mkdir")
        figures["mkdir_ms_p50_1"] = round(
            quantile([each / 1e6 for each in counted.latencies["Mkdir"]], 0.5), 3
        )
        await clients(bench, 32, "mkdir")
        await bench.until(lambda: len(counted.returned.get("Mkdir", [])) >= 10_000)
        figures["rss_mb_per_server"] = round(resident_mb(bench), 1)
        used_s, groups = cpu_s(bench), 0
        figures["mkdir_per_s"] = await phase(bench, counted, "mkdir")
        made, groups = len(counted.returned["Mkdir"]), counted.groups
        figures["cpu_us_per_mkdir"] = round(
            (cpu_s(bench) - used_s) / max(1, made) * 1e6 * share_of_phase(), 1
        )
        figures["records_per_group"] = round(counted.records / max(1, groups), 1)
        for kind in ("stat", "create", "rename", "delete"):
            figures[f"{kind}_per_s"] = await phase(bench, counted, kind)
        await clients(bench, 128, "mkdir")
        figures["mkdir_per_s_128"] = await phase(bench, counted, "mkdir")
        await clients(bench, 1, "mkdir")
        await phase(bench, counted, "mkdir")
        figures["mkdir_ms_p50_1"] = round(
            quantile([each / 1e6 for each in counted.latencies["Mkdir"]], 0.5), 3
        )
        figures["failed_calls"] = counted.failed
        return bench.broken()


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


def share_of_phase() -> float:
    """Share of a phase's processor time that falls into its windows and not into its warm-up."""
    return WINDOWS * WINDOW_S / (WARM_S + WINDOWS * WINDOW_S + 0.3)


def bytes_per_inode() -> float:
    reported = subprocess.run(
        [sys.executable, "-c", MEASURE_INODES.format(count=INODES)],
        capture_output=True,
        text=True,
        check=True,
    )
    return round(float(reported.stdout))


def main() -> int:
    """Prints one JSON object."""
    gc.set_threshold(200_000, 50, 1000)
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    figures: dict[str, Any] = {}
    broken = uvloop.run(measure(figures)) + uvloop.run(with_images(figures))
    figures["bytes_per_inode"] = bytes_per_inode()
    figures["broken_checks"] = len(broken)
    config = {"standbys": 3, "concurrent": 32, "windows": WINDOWS, "window_s": WINDOW_S}
    return report("metadata", config, figures, PAPER)
