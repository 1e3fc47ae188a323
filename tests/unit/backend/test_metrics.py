"""The metrics of the control plane: names, formats, histograms, and that each is documented."""

import re
import subprocess
import sys
import time
from pathlib import Path

import httpx
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from backend.durations import Durations
from backend.events.failovers import Failover
from backend.fabrics.children import Child, began
from backend.fabrics.processes import ProcessFabric
from backend.lab import Lab
from backend.running_cluster import TAKEOVER_PARTS
from tests.unit.backend.story import Story, called
from tests.unit.backend.test_api import with_api

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "deploy.md"
SOURCES = (ROOT / "backend" / "metrics.py", ROOT / "nodes" / "supervisor" / "metrics.py")
METRIC = re.compile(r'MetricFamily\(\s*"(cloverlab_\w+)"')
COUNTER = re.compile(r'CounterMetricFamily\(\s*"(cloverlab_\w+)"')
OPEN_METRICS = {"Accept": "application/openmetrics-text; version=1.0.0"}


def names() -> set[str]:
    """Every name as it is reported, those of counters with their ending."""
    code = "".join(path.read_text() for path in SOURCES)
    counters = set(COUNTER.findall(code))
    return {f"{name}_total" if name in counters else name for name in METRIC.findall(code)}


def documented() -> set[str]:
    """The metrics of the table; a name that begins with _ continues the first of its row."""
    found = set()
    for row in re.findall(r"^\| (`.*?) \|", PAGE.read_text(), re.MULTILINE):
        words = re.findall(r"`([a-z_]+)`", row)
        head = next((word for word in words if word.startswith("cloverlab_")), "")
        stem = "_".join(head.split("_")[:2])
        found |= {stem + word if word.startswith("_") else word for word in words if head}
    return found


def test_every_metric_is_documented_and_every_documented_one_is_reported() -> None:
    assert names() == documented()


def test_durations_are_counted_up_to_each_bound() -> None:
    durations = Durations((0.1, 1.0))
    for duration_s in (0.1, 0.05, 0.5, 7.0):
        durations.add(duration_s)
    assert durations.cumulative() == [("0.1", 2.0), ("1.0", 3.0), ("+Inf", 4.0)]
    assert durations.sum_s == 7.65


def test_calls_and_parts_of_takeovers_are_histograms_in_both_formats(tmp_path: Path) -> None:
    async def ask(client: httpx.AsyncClient, lab: Lab) -> None:
        lab._on_events([Story()(2, "client1", called(1, 2))])
        lab._failed_over(1, Failover("g1", 1, 1500.0, 40.0, 20.0, None, 1560.0, "mds1", "mds2", 2))
        old = (await client.get("/metrics")).text
        assert "cloverlab_call_duration_seconds_count 1.0" in old
        assert 'cloverlab_takeover_duration_seconds_bucket{le="2.5",part="detection"} 1.0' in old
        assert 'cloverlab_takeover_duration_seconds_count{part="reconnect"} 0.0' in old
        assert re.search(r'cloverlab_build_info\{protocol="mams",version="[^"]+"\} 1.0', old)
        assert 'cloverlab_server_lag{group="g1",server="mds1"} 0.0' in old
        new = await client.get("/metrics", headers=OPEN_METRICS)
        assert new.headers["content-type"].startswith("application/openmetrics-text")
        found = {family.name: family for family in text_string_to_metric_families(new.text)}
        parts = {sample.labels["part"] for sample in found["cloverlab_takeover_duration_seconds"].samples}
        assert parts == set(TAKEOVER_PARTS)

    with_api(tmp_path, ask)


def test_processes_of_this_machine_are_measured(tmp_path: Path) -> None:
    async def ask(client: httpx.AsyncClient, lab: Lab) -> None:
        assert isinstance(lab.fabric, ProcessFabric)
        pid = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE).pid
        lab.fabric.children.adopt(Child("mds1", "server", pid, began(pid)))
        lab.fabric.children.adopt(Child("mds2", "server", pid, "another start"))
        metrics = (await client.get("/metrics", headers=OPEN_METRICS)).text
        found = {family.name: family for family in text_string_to_metric_families(metrics)}

        def values(name: str) -> dict[str, float]:
            return {each.labels["server"]: each.value for each in found[name].samples}

        assert values("cloverlab_process_up") == {"mds1": 1.0, "mds2": 0.0}
        assert values("cloverlab_process_starts") == {"mds1": 0.0, "mds2": 0.0}
        assert values("cloverlab_process_resident_bytes")["mds1"] > 1 << 20
        assert values("cloverlab_process_cpu_seconds").keys() == {"mds1"}
        assert values("cloverlab_process_open_fds")["mds1"] >= 3
        assert 0 <= time.time() - values("cloverlab_process_start_time_seconds")["mds1"] < 86_400
        assert values("cloverlab_volume_free_bytes")["mds1"] > 0

    with_api(tmp_path, ask)
