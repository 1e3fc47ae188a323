"""`status`: the problems of a cluster, its table, and exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from backend import remote_requests
from backend.cli import entry
from backend.status import problems, rows, short

SERVER = {
    "name": "mds1", "group": "g1", "role": "active", "believes": "active", "process": "running", "epoch": 2,
    "sn": 7, "lag": 0, "pid": 11, "address": "127.0.0.1:1",
}  # fmt: skip


def cluster(**changes: Any) -> dict[str, Any]:
    standby = SERVER | {"name": "mds2", "role": "standby", "believes": "standby", "lag": 3}
    return {
        "cluster": "c", "protocol": "mams", "settled": True, "trouble": "", "servers": [SERVER, standby],
        "nodes": [], "clients": [], "coordination": {"process": "running", "pid": 5, "address": "127.0.0.1:2"},
        "groups": [{"name": "g1", "epoch": 2, "active": "mds1", "commit_sn": 7, "counters": None}],
        "replicated": {}, "invariants": [],
    } | changes  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, []),
        ({"servers": [SERVER | {"process": "paused"}]}, ["mds1 is paused"]),
        ({"servers": [SERVER, SERVER | {"name": "mds2", "role": "junior"}]}, ["mds2 is junior"]),
        ({"servers": [SERVER | {"believes": "elected"}]}, ["g1 is not served"]),
        ({"invariants": [{"invariant": "one_active", "state": "red"}]}, ["invariant one_active is violated"]),
        ({"trouble": "no disk"}, ["no disk"]),
    ],
)
def test_problems(changes: dict[str, Any], found: list[str]) -> None:
    assert problems(cluster(**changes)) == found


@pytest.fixture
def reports(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    now = cluster()

    def ask(*_: Any, **__: Any) -> dict[str, Any]:
        return {**short(now), "rows": rows(now)}

    monkeypatch.setattr(remote_requests, "ask", ask)
    return now


def test_the_table_has_the_lag_and_whether_the_cluster_is_settled(
    reports: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert entry(["status"]) == 0
    head, *lines, last = capsys.readouterr().out.splitlines()
    assert head.split() == ["server", "role", "process", "epoch", "sn", "lag", "pid", "address"]
    assert lines[1].split() == ["S", "mds2", "standby", "running", "2", "7", "3", "11", "127.0.0.1:1"]
    assert last == "settled"


def test_the_old_option_says_its_new_name(
    reports: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert entry(["status", "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["settled"] and said.err == "cloverlab: --json is now -o json\n"


def test_check_prints_problems_only_and_exits_with_one(
    reports: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert (entry(["status", "--check"]), capsys.readouterr().out) == (0, "")
    reports["servers"] = [SERVER | {"process": "stopped", "believes": "none"}]
    assert entry(["status", "--check"]) == 1
    assert capsys.readouterr().out == "mds1 is stopped\ng1 is not served\n"


IMPORTS = """
import sys
from backend.cli import entry
assert entry(["--port", "1", "status"]) == 4
print(*sorted(sys.modules))
"""
HEAVY = {
    "asyncio",
    "backend.settings",
    "fastapi",
    "httpx",
    "kazoo",
    "nodes.kinds",
    "nodes.world",
    "pydantic",
    "pydantic_core",
    "rich",
    "ruamel",
    "starlette",
    "tomllib",
    "uvicorn",
    "uvloop",
}


def test_it_imports_nothing_of_the_cluster() -> None:
    """Imports are nearly all of its time."""
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True)
    assert HEAVY & set(done.stdout.split()) == set()
