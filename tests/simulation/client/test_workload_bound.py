"""The default workload: as many objects after a day as after an hour, also over starts and failovers."""

from __future__ import annotations

import msgspec
import pytest

from backend.fabrics.watched_cluster import GENTLE
from nodes.config import SECOND, WorkloadConfig, many_groups, one_group
from nodes.invariants import registry
from nodes.metadata.operations import ContentSummary, Summary
from nodes.sim.cluster import CLIENT, SimCluster

BOUND = 60
SMALL = msgspec.structs.replace(GENTLE, objects=BOUND)
DIRECTORIES = GENTLE.directories + 2
"""Those of the workload, its root and the root of the tree."""


def objects(cluster: SimCluster) -> int:
    result = cluster.start_client(f"counting{cluster.now_ns}").call(ContentSummary("/")).result
    assert isinstance(result, Summary)
    return result.files + result.directories - DIRECTORIES


@pytest.mark.parametrize("groups", [1, 2])
def test_the_default_workload_is_bounded(groups: int) -> None:
    config = one_group() if groups == 1 else many_groups(groups)
    cluster, checks = SimCluster(config, 5, SMALL), registry.start(config)
    cluster.on_event(checks.on_event)
    cluster.run_until(cluster.settled)
    seen = []
    for _ in range(4):
        cluster.run_for(20 * SECOND)
        seen.append(objects(cluster))
    assert 0 < max(seen) <= BOUND + GENTLE.clients
    assert checks.failures == []


def test_objects_of_earlier_starts_count() -> None:
    cluster = SimCluster(one_group(), 7, SMALL)
    cluster.run_until(cluster.settled)
    for _ in range(6):
        cluster.run_for(20 * SECOND)
        cluster.faults.do("crash", [CLIENT])
        cluster.run_for(2 * SECOND)
        cluster.faults.restart(CLIENT)
    cluster.run_for(20 * SECOND)
    assert 0 < objects(cluster) <= BOUND + 2 * GENTLE.clients


def test_a_workload_that_creates_alone_stops_growing_at_its_bound() -> None:
    only = WorkloadConfig(clients=2, rate_per_s=50, mix={"create": 1, "mkdir": 1, "link": 1}, objects=40)
    cluster = SimCluster(one_group(1), 3, only)
    cluster.run_until(cluster.settled)
    cluster.run_for(30 * SECOND)
    assert 35 <= objects(cluster) <= 42
