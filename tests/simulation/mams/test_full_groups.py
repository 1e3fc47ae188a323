"""An open group has a maximum of records: further writes wait for the next group."""

from __future__ import annotations

import pytest

from nodes.config import MILLISECOND, SECOND, WorkloadConfig, one_group
from nodes.metadata_server import writer
from nodes.sim.cluster import SimCluster
from nodes.trace.events import Committed

MOST = 4


def largest_group(cluster: SimCluster) -> int:
    return max(len(s.event.operations) for s in cluster.events if type(s.event) is Committed)


def test_writes_wait_for_the_next_group_when_the_open_one_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "RECORDS_MAX", MOST)
    cluster = SimCluster(one_group(), 1, WorkloadConfig(clients=64, rate_per_s=0, mix={"create": 1}))
    cluster.run_until(cluster.settled)
    cluster.run_for(300 * MILLISECOND)
    assert cluster.workload is not None
    assert set(cluster.workload.counts()) == {"ok"} and cluster.workload.counts()["ok"] > 500
    assert largest_group(cluster) == MOST


def test_records_that_wait_for_room_count_from_when_they_were_due(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "RECORDS_MAX", 100)
    cluster = SimCluster(one_group(), 2)
    cluster.run_until(cluster.settled)
    cluster.run_for(1 * SECOND)
    active = next(name for name, letter in cluster.view().items() if letter == "A")
    question = {"do": "load_journal", "rate": 1_000_000, "count": 5_000, "size": 100}
    task = cluster.begin_asking(active, question)
    cluster.run_until(task.done, 10 * SECOND)
    assert task.result()["mean_ms"] > 10
    assert largest_group(cluster) == 100
