"""`/metrics` of a supervisor for Prometheus: its process, its volume, and a metadata server's own counters."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from nodes.supervisor.supervisor import Supervisor

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class ProcessCollector(Collector):
    """Called in the event loop: it reads plain values and /proc, and waits for nothing."""

    def __init__(self, supervisor: Supervisor):
        self._supervisor = supervisor

    def collect(self) -> Iterator[Metric]:
        status = self._supervisor.status()
        labels, values = ["server", "kind"], [status.name, status.kind]
        up = GaugeMetricFamily(
            "cloverlab_process_up", "1 while the server runs and is not paused", labels=labels
        )
        up.add_metric(values, float(status.state == "running"))
        starts = CounterMetricFamily(
            "cloverlab_process_starts", "Starts since the container began", labels=labels
        )
        starts.add_metric(values, self._supervisor.keeper.starts)
        free = GaugeMetricFamily("cloverlab_volume_free_bytes", "Left in the server's volume", labels=labels)
        free.add_metric(values, status.free_bytes)
        yield from (up, starts, free)
        if status.role:
            role = GaugeMetricFamily(
                "cloverlab_zookeeper_role", "1 for the server's role", labels=["server", "role"]
            )
            for each in ("leader", "follower", "looking", "down"):
                role.add_metric([status.name, each], float(each == status.role))
            yield role
        if status.pid:
            yield from usage(status.pid, labels, values)


def usage(pid: int, labels: list[str], values: list[str]) -> Iterator[Metric]:
    """Memory and processor time as the kernel counts them; empty when the process has just ended."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (OSError, IndexError):
        return
    resident = GaugeMetricFamily("cloverlab_process_resident_bytes", "Resident memory", labels=labels)
    resident.add_metric(values, pages * PAGE_BYTES)
    cpu = CounterMetricFamily(
        "cloverlab_process_cpu_seconds", "Processor time, user and system", labels=labels
    )
    cpu.add_metric(values, (int(fields[11]) + int(fields[12])) / TICKS_PER_S)
    yield from (resident, cpu)
