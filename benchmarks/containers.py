"""compose.yaml: time until all of it is healthy, and its memory; failovers with a cut network; rounds of random faults."""

from __future__ import annotations

import json
import os
import sys
import time

from backend.compose import Compose, docker, services
from backend.errors import Unavailable
from benchmarks._cluster import report
from benchmarks.start import free_port

PROJECT = "cloverlab-bench"
ROUNDS, FAILOVERS = 50, 15
INSIDE_S = 3600.0
MIB = 1 << 20
BASES = {"cloverlab:1": "python:3.11-slim-bookworm"}


def resident_mb(compose: Compose) -> float:
    """Memory of every container in MB, as its cgroup counts it, without the page cache of inactive files."""
    reported = docker("stats", "--no-stream", "--format", "{{.MemUsage}}", *compose.containers())
    units = {"GiB": 1024.0, "MiB": 1.0, "KiB": 1 / 1024}
    total = 0.0
    for line in reported.splitlines():
        used = line.split("/")[0].strip()
        total += float(used[:-3]) * units[used[-3:]]
    return total


def image_mb(name: str) -> float:
    return int(docker("image", "inspect", "-f", "{{.Size}}", name) or 0) / 1e6


def main() -> int:
    """Prints one JSON object."""
    os.environ["CLOVERLAB_PORT"] = str(free_port())
    compose = Compose(PROJECT)
    try:
        compose.build()
        compose.down()
        began = time.monotonic()
        compose.up()
        up_s = time.monotonic() - began
        time.sleep(10)
        rss_mb = resident_mb(compose)
        compose.must("stop", "control")
        words = ("python3", "-m", "benchmarks._container_part", str(ROUNDS), str(FAILOVERS))
        print(f"{ROUNDS} rounds and {FAILOVERS} failovers …", file=sys.stderr)
        inside = compose.must("run", "--rm", "--no-deps", "-T", "control", *words, timeout_s=INSIDE_S)
        hosts = len(services(compose))
    finally:
        compose.down()
    figures = {
        "up_s": round(up_s, 1),
        "rss_mb": round(rss_mb),
        **{f"image_over_base_mb_{name.split(':')[0]}": round(image_mb(name) - image_mb(base)) for name, base in BASES.items()},
        "zookeeper_over_cloverlab_mb": round(image_mb("cloverlab-zookeeper:1") - image_mb("cloverlab:1")),
        **json.loads(inside.strip().splitlines()[-1]),
    }  # fmt: skip
    if not figures["failovers"]:
        raise Unavailable("no failover was seen")
    return report("containers", {"hosts": hosts, "rounds": ROUNDS, "session_timeout_ms": 5000}, figures, {})
