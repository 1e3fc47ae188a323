"""Faults on real processes, through the API."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from backend.errors import LabError
from tests.processes.backend.running import Up, up


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with up(tmp_path_factory.mktemp("faults") / "data") as running:
        yield running


@pytest.fixture(autouse=True)
def green(cluster: Up) -> Iterator[Up]:
    """Each test begins and ends with all servers in step, no fault in force, no invariant violated."""
    cluster.await_green()
    yield cluster
    cluster.fault("heal_all")
    for server in cluster.cluster()["servers"]:
        if server["process"] == "paused":
            cluster.fault("resume", server["name"])
        elif server["process"] == "stopped":
            cluster.fault("restart", server["name"])
    cluster.await_green()
    invariants = {
        status["invariant"]: status["explanation"]
        for status in cluster.cluster()["invariants"]
        if status["state"] == "red"
    }
    assert invariants == {}


def commit_sn(cluster: Up) -> int:
    return int(cluster.cluster()["groups"][0]["commit_sn"])


def test_crash_the_active_and_a_standby_takes_over(cluster: Up) -> None:
    old, epoch = cluster.active(), cluster.cluster()["groups"][0]["epoch"]
    cluster.fault("crash", "active of g1")
    new = cluster.await_true(lambda: (name := cluster.serving()) not in ("", old) and name, "another active")
    sn = commit_sn(cluster)
    cluster.await_true(lambda: commit_sn(cluster) > sn, "the sn goes on")
    assert cluster.cluster()["groups"][0]["epoch"] > epoch
    assert (cluster.server(old)["process"], cluster.server(old)["role"]) == ("stopped", "down")
    splits = cluster.await_true(
        lambda: cluster.get("/api/runs/1/timeline")["failovers"], "the split of the failover"
    )
    assert (splits[-1]["old"], splits[-1]["new"]) == (old, new)
    assert splits[-1]["detection_ms"] > 0 and splits[-1]["reconnect_ms"] is not None
    cluster.fault("restart", old)
    cluster.await_true(lambda: cluster.server(old)["role"] == "standby", "the junior becomes a standby")
    roles = cluster.get("/api/runs/1/events?kinds=Placed&limit=5000")["events"]
    states = [event["state"] for event in roles if event["of_server"] == old]
    assert states[-1] == "standby" and "junior" in states


def test_take_the_lock_away(cluster: Up) -> None:
    old = cluster.active()
    cluster.fault("take_lock", "g1")
    cluster.await_true(lambda: cluster.serving() not in ("", old), "another active")
    cluster.await_true(lambda: cluster.server(old)["role"] == "standby", "the old active is a standby again")


def test_expire_the_session_of_the_active(cluster: Up) -> None:
    old = cluster.active()
    cluster.fault("expire_session", old)
    cluster.await_true(lambda: cluster.serving() not in ("", old), "another active")
    events = cluster.get("/api/runs/1/events?kinds=SessionEnded&limit=5000")["events"]
    assert old in [event["of_server"] for event in events]


def test_pause_and_resume_a_standby(cluster: Up) -> None:
    name = next(s["name"] for s in cluster.cluster()["servers"] if s["role"] == "standby")
    cluster.fault("pause", name)
    assert cluster.server(name)["process"] == "paused"
    with pytest.raises(LabError, match="paused already"):
        cluster.fault("pause", name)
    cluster.await_true(lambda: cluster.server(name)["role"] == "down", "its session ends")
    cluster.fault("resume", name)
    cluster.await_true(lambda: cluster.server(name)["role"] == "standby", "it is a standby again")


def test_isolate_the_active(cluster: Up) -> None:
    old = cluster.active()
    cluster.fault("cut", old)
    links = cluster.cluster()["links"]
    assert [(link["a"], link["b"], link["rule"]) for link in links] == [(old, "*", "cut")]
    cluster.await_true(lambda: cluster.serving() not in ("", old), "another active")
    sn = commit_sn(cluster)
    cluster.await_true(lambda: commit_sn(cluster) > sn, "the sn goes on")
    cluster.fault("heal", old)
    assert cluster.cluster()["links"] == []
    cluster.await_true(lambda: cluster.server(old)["role"] == "standby", "the old active is a standby again")


def test_respawn_the_active(cluster: Up) -> None:
    old = cluster.active()
    pid = cluster.server(old)["pid"]
    fault = cluster.fault("respawn", "active of g1")
    assert cluster.server(old)["process"] == "running" and cluster.server(old)["pid"] != pid
    cluster.await_true(cluster.serving, "somebody serves again")
    cluster.await_true(lambda: cluster.server(old)["role"] in ("active", "standby"), "it is in step again")
    kinds = "kinds=FaultInjected,FaultEnded,ProcessEnded&limit=5000"
    reported = cluster.get(f"/api/runs/1/events?{kinds}")["events"]
    assert [each["kind"] for each in reported if each.get("fault") == fault] == [
        "FaultInjected",
        "FaultEnded",
    ]
    assert not [each for each in reported if each["kind"] == "ProcessEnded" and each["of_server"] == old]


def test_stop_gracefully_and_restart(cluster: Up) -> None:
    old = cluster.active()
    began = time.monotonic()
    cluster.fault("stop", old)
    assert time.monotonic() - began < 3 and cluster.server(old)["process"] == "stopped"
    cluster.await_true(lambda: cluster.serving() not in ("", old), "another active")
    with pytest.raises(LabError, match="does not run"):
        cluster.fault("crash", old)
    cluster.fault("restart", "last down of g1")
    with pytest.raises(LabError, match="runs"):
        cluster.fault("restart", old)


def test_a_slow_link_is_slow_and_a_healed_one_is_not(cluster: Up) -> None:
    active = cluster.active()
    cluster.fault("delay", "client1", active, ms=150)

    def p50_ms() -> float:
        now = cluster.cluster()["now_ns"]
        reported = cluster.get(f"/api/runs/1/timeline?from_ns={now - 1_000_000_000}&to_ns={now}&buckets=1")[
            "p50_ms"
        ]
        return max((value for value in reported if value is not None), default=0.0)

    cluster.await_true(lambda: p50_ms() >= 250, "calls take twice the delay")
    cluster.fault("heal", "client1", active)
    cluster.await_true(lambda: 0 < p50_ms() < 100, "calls are fast again")


def test_coordination_itself_can_be_killed(cluster: Up) -> None:
    cluster.fault("crash", "coordination")
    assert cluster.cluster()["coordination"]["process"] == "stopped"
    cluster.fault("restart", "coordination")
    cluster.await_green()
    sn = commit_sn(cluster)
    cluster.await_true(lambda: commit_sn(cluster) > sn, "the sn goes on")


def test_the_workload_is_throttled_and_paused(cluster: Up) -> None:
    from backend import remote_requests

    reported = remote_requests.ask(cluster.port, "POST", "/api/workload", {"paused": True})
    assert reported["paused"] is True

    def calls_of_last_second() -> int:
        now = cluster.cluster()["now_ns"]
        return sum(cluster.get(f"/api/runs/1/timeline?from_ns={now - 10**9}&to_ns={now}&buckets=1")["ok"])

    cluster.await_true(lambda: calls_of_last_second() == 0, "no calls")
    remote_requests.ask(cluster.port, "POST", "/api/workload", {"paused": False, "rate_per_s": 20})
    cluster.await_true(lambda: calls_of_last_second() > 5, "calls again")


def test_the_file_system_through_the_smart_client(cluster: Up) -> None:
    from backend import remote_requests

    def fs(do: str, path: str, **options: object) -> object:
        return remote_requests.ask(cluster.port, "POST", "/api/fs", {"do": do, "path": path, **options})[
            "result"
        ]

    fs("mkdir", "/a/b", parents=True)
    fs("create", "/a/b/f")
    fs("mv", "/a/b/f", to="/a/b/g")
    assert fs("ls", "/a/b")["names"] == ["g"]  # type: ignore[index]
    with pytest.raises(LabError, match="ENOENT"):
        fs("stat", "/a/b/f")
    with pytest.raises(LabError, match="EINVAL"):
        fs("mkdir", "/a/../b")
    with pytest.raises(LabError, match="ENAMETOOLONG"):
        fs("mkdir", "/" + "n" * 256)
    fs("rm", "/a", recursive=True)
    with pytest.raises(LabError, match="ENOENT"):
        fs("ls", "/a")


def test_add_a_server_at_run_time(cluster: Up) -> None:
    cluster.fault("add_server", "g1")
    assert len(cluster.cluster()["servers"]) == 5
    cluster.await_true(lambda: cluster.server("mds5")["role"] == "standby", "the new server is a standby")


def test_links_that_duplicate_reorder_and_jitter_lose_nothing(cluster: Up) -> None:
    """Each of these faults reaches the transports of real servers, which go on; `green` checks every invariant at the end."""
    active = cluster.active()
    for verb, options in (
        ("duplicate", {"share": 0.5}), ("reorder", {"share": 0.5}), ("delay", {"ms": 2, "jitter_ms": 8}),
    ):  # fmt: skip
        cluster.fault(verb, active, **options)
    rules = {link["rule"] for link in cluster.cluster()["links"]}
    assert rules == {"duplicates 50%", "reorders 50%", "2 ms slower"}
    sn = commit_sn(cluster)
    cluster.await_true(lambda: commit_sn(cluster) > sn + 30, "writes go on")
    cluster.fault("heal_all")
    assert cluster.cluster()["links"] == []
