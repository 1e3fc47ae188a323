"""A group below its floor on real processes: `./cloverlab force` is refused while it serves, and restores service when no other server can."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backend import remote_requests
from backend.cli import entry
from backend.errors import LabError
from tests.processes.backend.running import up


def test_the_last_of_three_is_forced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with up(tmp_path / "data", "--standbys", "2", "--data-nodes", "0") as running:
        group = running.cluster()["groups"][0]
        active = group["active"]
        left, first = [name for name in group["configuration"]["members"] if name != active]
        with pytest.raises(LabError, match="is served by"):
            running.fault("force", "g1", left)
        with pytest.raises(LabError, match="no target is called"):
            running.fault("force", "g9", left)
        running.fault("crash", first)
        running.await_true(
            lambda: len(running.cluster()["groups"][0]["configuration"]["members"]) == 2, "a group of two"
        )
        remote_requests.ask(running.port, "POST", "/api/fs", {"do": "mkdir", "path": "/before"})
        running.fault("crash", active)
        running.await_true(lambda: running.server(left)["role"] == "active", "the place of the elected", 30)
        assert entry(["--port", str(running.port), "force", "g1", left, "-o", "json"]) == 0
        reported = json.loads(capsys.readouterr().out)
        assert reported["fault"] and f"{left} has everything up to sn" in reported["detail"]
        remote_requests.ask(running.port, "POST", "/api/fs", {"do": "mkdir", "path": "/after"})
        running.await_true(
            lambda: running.cluster()["groups"][0]["configuration"]["members"] == [left],
            "a group of the forced one",
        )
        for name in (active, first):
            running.fault("restart", name)
        running.await_true(
            lambda: len(running.cluster()["groups"][0]["configuration"]["members"]) == 3,
            "all three again",
            30,
        )
        listed = remote_requests.ask(running.port, "POST", "/api/fs", {"do": "ls", "path": "/"})["result"][
            "names"
        ]
        assert {"before", "after"} <= set(listed)
        running.await_green()
        running.end()
        assert "Traceback" not in running.words()
