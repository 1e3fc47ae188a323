"""Packed Multi-Paxos on real processes: the primary and a secondary die, calls continue, and every server returns."""

from __future__ import annotations

import pytest

from tests.processes.backend.running import Up, up


def of_role(cluster: Up, role: str) -> str:
    return next((s["name"] for s in cluster.cluster()["servers"] if s["role"] == s["believes"] == role), "")


def answered(cluster: Up) -> int:
    return int(cluster.cluster()["groups"][0]["commit_sn"])


def test_the_primary_and_a_secondary_die(tmp_path_factory: pytest.TempPathFactory) -> None:
    data = tmp_path_factory.mktemp("paxos") / "data"
    with up(data, "--protocol", "packed-paxos", "--standbys", "2", "--data-nodes", "1") as cluster:
        old = of_role(cluster, "primary")
        cluster.fault("crash", "primary of g1")
        cluster.await_true(lambda: of_role(cluster, "primary") not in ("", old), "another primary")
        slot = answered(cluster)
        cluster.await_true(lambda: answered(cluster) > slot, "work goes on")
        cluster.fault("restart", old)
        cluster.await_green()
        secondary = of_role(cluster, "secondary")
        cluster.fault("crash", secondary)
        slot = answered(cluster)
        cluster.await_true(lambda: answered(cluster) > slot + 20, "work goes on without it")
        cluster.fault("restart", secondary)
        cluster.await_green()
        reported = cluster.cluster()
        assert {s["role"] for s in reported["servers"]} == {"primary", "secondary"}
        assert {status["state"] for status in reported["invariants"]} <= {"green", "grey"}, reported[
            "invariants"
        ]
        assert cluster.end() < 20
