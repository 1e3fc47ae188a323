"""The metrics of processes for Prometheus, and `/metrics` of a supervisor."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from nodes.supervisor.supervisor import Supervisor

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


LABELS = ("server", "kind")


class ProcessMetrics:
    """The metrics of processes, as the kernel counts them; those of a process that has ended, or that may not be read, are left out."""

    def __init__(self) -> None:
        self._up = GaugeMetricFamily(
            "cloverlab_process_up", "1 while the process runs and is not paused", labels=LABELS
        )
        self._starts = CounterMetricFamily(
            "cloverlab_process_starts", "Starts since the supervisor or control plane began", labels=LABELS
        )
        self._free = GaugeMetricFamily(
            "cloverlab_volume_free_bytes", "Left in the volume of the process", labels=LABELS
        )
        self._resident = GaugeMetricFamily(
            "cloverlab_process_resident_bytes", "Resident memory", labels=LABELS
        )
        self._cpu = CounterMetricFamily(
            "cloverlab_process_cpu_seconds", "Processor time, user and system", labels=LABELS
        )
        self._descriptors = GaugeMetricFamily(
            "cloverlab_process_open_fds", "Open file descriptors", labels=LABELS
        )
        self._began = GaugeMetricFamily(
            "cloverlab_process_start_time_seconds", "Start of the process, in Unix time", labels=LABELS
        )

    def families(self) -> tuple[Metric, ...]:
        return (
            self._up,
            self._starts,
            self._free,
            self._resident,
            self._cpu,
            self._descriptors,
            self._began,
        )

    def add(self, name: str, kind: str, state: str, pid: int, starts: int, free_bytes: int) -> None:
        """`pid`: 0 while it does not run."""
        values = (name, kind)
        self._up.add_metric(values, float(state == "running"))
        self._starts.add_metric(values, starts)
        self._free.add_metric(values, free_bytes)
        with contextlib.suppress(OSError, IndexError):
            self._add_usage(values, Path(f"/proc/{pid}"))

    def _add_usage(self, values: Sequence[str], process: Path) -> None:
        pages = int((process / "statm").read_text().split()[1])
        fields = (process / "stat").read_text().rpartition(")")[2].split()
        self._resident.add_metric(values, pages * PAGE_BYTES)
        self._cpu.add_metric(values, (int(fields[11]) + int(fields[12])) / TICKS_PER_S)
        self._began.add_metric(values, self._boot_s + int(fields[19]) / TICKS_PER_S)
        self._descriptors.add_metric(values, len(os.listdir(process / "fd")))

    @cached_property
    def _boot_s(self) -> int:
        """Unix time of the machine's boot, read once per scrape. Raises OSError."""
        for line in Path("/proc/stat").read_text().splitlines():
            if line.startswith("btime "):
                return int(line.split()[1])
        return 0


class ProcessCollector(Collector):
    """Called in the event loop: it reads plain values and /proc, and waits for nothing."""

    def __init__(self, supervisor: Supervisor):
        self._supervisor = supervisor

    def collect(self) -> Iterator[Metric]:
        status = self._supervisor.status()
        processes = ProcessMetrics()
        starts = self._supervisor.keeper.starts
        processes.add(status.name, status.kind, status.state, status.pid, starts, status.free_bytes)
        yield from processes.families()
        if status.role:
            role = GaugeMetricFamily(
                "cloverlab_zookeeper_role", "1 for the server's role", labels=["server", "role"]
            )
            for each in ("leader", "follower", "looking", "down"):
                role.add_metric([status.name, each], float(each == status.role))
            yield role
