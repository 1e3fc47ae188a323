"""`./cloverlab remove`: a server leaves real processes for good, under load."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backend import remote_requests
from backend.cli import entry
from backend.errors import Exit
from tests.processes.backend.running import Up, alive, up

SIZE = ("--standbys", "2", "--data-nodes", "1")


def members(running: Up) -> list[str]:
    found: list[str] = running.cluster()["groups"][0]["configuration"]["members"]
    return sorted(found)


def names(running: Up) -> list[str]:
    return [server["name"] for server in running.cluster()["servers"]]


def remove(running: Up, server: str) -> int:
    return entry(["--port", str(running.port), "remove", server, "-o", "json"])


def test_a_server_is_taken_out_for_good(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "data"
    with up(data, *SIZE) as running:
        remote_requests.ask(running.port, "POST", "/api/fs", {"do": "mkdir", "path": "/before"})
        active = running.active()
        leaver, stays = [name for name in names(running) if name != active]
        for target, reason in (
            (active, f"{active} leads g1"),
            ("dn1", "dn1 stays: nothing moves its replicas"),
            ("mds9", "mds9"),
        ):
            assert remove(running, target) == Exit.REFUSED
            assert reason in capsys.readouterr().err
        pid = running.pids()[leaver]
        assert remove(running, leaver) == Exit.WELL
        assert json.loads(capsys.readouterr().out) == {"server": leaver, "group": "g1"}
        assert not alive({leaver: pid})
        assert leaver not in members(running) and leaver not in names(running)
        running.await_green()
        assert leaver not in json.dumps(running.get("/api/status")["problems"])
        assert remove(running, stays) == Exit.REFUSED
        assert "never counts fewer than 2" in capsys.readouterr().err
        running.fault("add_server", "g1")
        assert names(running)[-1] == "mds4"
        running.await_green()
        running.fault("crash", stays)
        assert remove(running, stays) == Exit.WELL
        running.await_green()
        running.end()
        assert "Traceback" not in running.words()
    with up(data) as again:
        assert sorted(names(again)) == sorted([active, "mds4"]) == members(again)
        assert leaver not in again.pids() and stays not in again.pids()
        listed = remote_requests.ask(again.port, "POST", "/api/fs", {"do": "ls", "path": "/"})["result"][
            "names"
        ]
        assert "before" in listed
        assert [each for each in again.cluster()["invariants"] if each["state"] == "red"] == []


def test_a_reader_of_a_shared_journal_leaves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with up(tmp_path / "data", "--protocol", "qjm", "--data-nodes", "0") as running:
        active = running.active()
        [leaver] = [name for name in names(running) if name != active]
        assert remove(running, "jn1") == Exit.REFUSED
        assert "quorums of the journal" in capsys.readouterr().err
        assert remove(running, leaver) == Exit.WELL
        running.await_green()
        assert names(running) == [active] == members(running)


def test_a_family_without_removals_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with up(tmp_path / "data", "--protocol", "symmetric", "--standbys", "2", "--data-nodes", "0") as running:
        assert remove(running, "mds2") == Exit.REFUSED
        assert "its views leave a stopped server out by themselves" in capsys.readouterr().err
