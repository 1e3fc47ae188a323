"""Symmetric members as processes: one is killed, calls continue, it returns, every invariant is green."""

from __future__ import annotations

from pathlib import Path

from backend import remote_requests
from tests.processes.backend.running import up


def test_a_member_is_killed_and_work_goes_on(tmp_path: Path) -> None:
    options = ("--protocol", "symmetric", "--standbys", "2", "--data-nodes", "0")
    with up(tmp_path / "data", *options) as running:
        assert {server["role"] for server in running.cluster()["servers"]} == {"member"}
        assert running.get("/api/cluster")["protocol"] == "symmetric"
        running.fault("force_view", "g1")
        running.await_true(lambda: running.cluster()["groups"][0]["epoch"] == 2, "a view that was asked for")
        assert len(running.cluster()["groups"][0]["configuration"]["members"]) == 3
        verbs = {verb["verb"] for verb in running.get("/api/verbs")}
        assert "force_view" in verbs and "take_lock" not in verbs
        running.fault("crash", "mds1")
        assert not running.cluster()["settled"]
        sn = running.cluster()["groups"][0]["commit_sn"]
        running.await_true(lambda: running.cluster()["groups"][0]["epoch"] > 2, "the view without it")
        running.await_true(lambda: running.cluster()["groups"][0]["commit_sn"] > sn + 20, "work that goes on")
        remote_requests.ask(running.port, "POST", "/api/fs", {"do": "mkdir", "path": "/while-it-was-away"})
        assert not running.cluster()["settled"]
        running.fault("restart", "mds1")
        running.await_true(lambda: running.server("mds1")["role"] == "member", "mds1 in the view again")
        running.await_green()
        sn = running.server("mds1")["sn"]
        running.await_true(lambda: running.server("mds1")["sn"] > sn + 20, "what it delivers")
        invariants = {status["invariant"]: status for status in running.cluster()["invariants"]}
        assert {"same order", "one primary view"} <= set(invariants) and "one active" not in invariants
        assert [status for status in invariants.values() if status["state"] != "green"] == []
        running.end()
        assert "Traceback" not in running.words()
