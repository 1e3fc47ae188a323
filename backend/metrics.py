"""`/metrics` for Prometheus: a few numbers, read from the picture at each request."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator

from fastapi import APIRouter, Request
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.responses import Response

from backend.dependencies import TheLab
from backend.fabrics.processes import ProcessFabric
from backend.probes import unready
from backend.running_cluster import Running
from backend.version import version
from nodes.roles import BEHIND, IN_STEP
from nodes.supervisor.exposition import Exposition, exposed
from nodes.supervisor.metrics import ProcessMetrics

router = APIRouter()
ROLES = (*IN_STEP, *BEHIND, "down")


class LabCollector(Collector):
    def __init__(self, lab: Running):
        self._lab = lab

    def collect(self) -> Iterator[Metric]:
        picture = self._lab.fabric.picture
        role = GaugeMetricFamily(
            "cloverlab_server_role",
            "1 for the server's place in the global view",
            labels=["server", "group", "role"],
        )
        sn = GaugeMetricFamily(
            "cloverlab_server_sn", "Last durable journal group", labels=["server", "group"]
        )
        up = GaugeMetricFamily("cloverlab_server_up", "1 while the process runs", labels=["server", "group"])
        for server in picture.servers.values():
            for each in ROLES:
                role.add_metric([server.name, server.group, each], float(server.role == each))
            sn.add_metric([server.name, server.group], server.sn)
            up.add_metric(
                [server.name, server.group], float(self._lab.fabric.state_of(server.name) == "running")
            )
        yield from (role, sn, up, self._lag())
        yield from self._groups()
        yield from self._spent()
        yield from self._calls()
        yield from self._durations()
        yield from self._processes()
        build = GaugeMetricFamily(
            "cloverlab_build_info", "1; its labels name the program", labels=["version", "protocol"]
        )
        build.add_metric([version(), self._lab.home.file.cluster.protocol], 1)
        yield build

    def _processes(self) -> Iterator[Metric]:
        """The processes of this machine. Those of containers are reported by their supervisors."""
        fabric = self._lab.fabric
        if not isinstance(fabric, ProcessFabric):
            return
        processes, free_bytes = ProcessMetrics(), shutil.disk_usage(self._lab.home.path).free
        for name, child in fabric.children.by_name.items():
            starts = fabric.children.starts[name]
            processes.add(
                name, child.role, child.state, child.pid if child.running else 0, starts, free_bytes
            )
        yield from processes.families()

    def _lag(self) -> Metric:
        picture = self._lab.fabric.picture
        lag = GaugeMetricFamily(
            "cloverlab_server_lag",
            "Committed journal groups that the server has not on disk",
            labels=["server", "group"],
        )
        for server in picture.servers.values():
            lag.add_metric([server.name, server.group], server.lag)
        return lag

    def _durations(self) -> Iterator[Metric]:
        calls = HistogramMetricFamily("cloverlab_call_duration_seconds", "Duration of calls of the workload")
        calls.add_metric([], self._lab.call_durations.cumulative(), self._lab.call_durations.sum_s)
        takeovers = HistogramMetricFamily(
            "cloverlab_takeover_duration_seconds", "Duration of each part of a takeover", labels=["part"]
        )
        for part, durations in self._lab.takeovers.items():
            takeovers.add_metric([part], durations.cumulative(), durations.sum_s)
        yield from (calls, takeovers)

    def _groups(self) -> Iterator[Metric]:
        epoch = GaugeMetricFamily("cloverlab_group_epoch", "Epoch of the group", labels=["group"])
        commit = GaugeMetricFamily(
            "cloverlab_group_commit_sn", "Last committed journal group", labels=["group"]
        )
        for group in self._lab.fabric.picture.groups.values():
            epoch.add_metric([group.name], group.epoch)
            commit.add_metric([group.name], group.commit_sn)
        yield from (epoch, commit)
        yield from self._counters()

    def _counters(self) -> Iterator[Metric]:
        """Counters of groups whose active answers; counters of cross-group operations start when the active begins to serve."""
        gauges = {
            "objects": GaugeMetricFamily("cloverlab_group_objects", "Objects", labels=["group"]),
            "branch_points": GaugeMetricFamily(
                "cloverlab_group_branch_points",
                "Names whose object has its home in another group",
                labels=["group"],
            ),
            "open": GaugeMetricFamily(
                "cloverlab_group_open_operations", "Open operations on several groups", labels=["group"]
            ),
            "log_bytes": GaugeMetricFamily(
                "cloverlab_group_log_bytes", "Bytes of journal after the newest image", labels=["group"]
            ),
            "log_full": GaugeMetricFamily(
                "cloverlab_group_log_full", "Whether writes wait for an image", labels=["group"]
            ),
        }
        written = CounterMetricFamily(
            "cloverlab_group_written_back", "Write-backs of the log, by event", labels=["group", "event"]
        )
        ended = CounterMetricFamily(
            "cloverlab_group_operations", "Operations on several groups", labels=["group", "outcome"]
        )
        sent = CounterMetricFamily("cloverlab_group_messages", "Messages to other groups", labels=["group"])
        for name, counters in self._lab.counted.groups.items():
            for field, gauge in gauges.items():
                gauge.add_metric([name], getattr(counters, field))
            ended.add_metric([name, "done"], counters.done)
            ended.add_metric([name, "aborted"], counters.aborted)
            sent.add_metric([name], counters.sent)
            for event in ("periodic", "forced", "protocol"):
                written.add_metric([name, event], getattr(counters, event))
        yield from (*gauges.values(), ended, sent, written)

    def _spent(self) -> Iterator[Metric]:
        """Replication costs of metadata servers, journal nodes and bookies since the start of each process."""
        messages = CounterMetricFamily(
            "cloverlab_server_messages", "Messages of replication", labels=["server", "kind"]
        )
        data = CounterMetricFamily(
            "cloverlab_server_message_bytes", "Bytes in these messages", labels=["server", "kind"]
        )
        logs = CounterMetricFamily("cloverlab_server_log_writes", "Synced writes of logs", labels=["server"])
        writes = CounterMetricFamily(
            "cloverlab_server_answered_writes", "Writes of clients that were carried out", labels=["server"]
        )
        for name, spent in self._lab.counted.servers.items():
            for kind, number in spent.messages.items():
                messages.add_metric([name, kind], number)
                data.add_metric([name, kind], spent.size[kind])
            logs.add_metric([name], spent.log_writes)
            writes.add_metric([name], spent.operations)
        yield from (messages, data, logs, writes)

    def _calls(self) -> Iterator[Metric]:
        buckets = self._lab.buckets
        calls = CounterMetricFamily("cloverlab_calls", "Calls of the workload", labels=["outcome"])
        calls.add_metric(["ok"], buckets.ok_total)
        calls.add_metric(["failed"], buckets.failed_total)
        yield calls
        broken = GaugeMetricFamily(
            "cloverlab_invariant_broken", "1 when an invariant failed", labels=["invariant"]
        )
        for status in self._lab.checks.invariants():
            broken.add_metric([status["invariant"]], float(status["state"] == "red"))
        yield broken


async def serve_metrics(lab: Running) -> asyncio.Server:
    """Serves metrics and probes on a port of their own. Raises OSError when the port is in use."""
    probes = {"/healthz": lambda: "", "/readyz": lambda: unready(lab)}
    return await Exposition(LabCollector(lab), probes).listen(lab.settings.metrics_port)


@router.get("/metrics", include_in_schema=False)
async def metrics(lab: TheLab, request: Request) -> Response:
    data, kind = exposed(LabCollector(lab), request.headers.get("accept", ""))
    return Response(data, media_type=kind)
