"""Simulated clusters beside the main one: each with its own API, clock, faults and past."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import websockets

from backend import remote_requests
from backend.errors import RequestRefused
from tests.processes.backend.running import Up


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Up]:
    running = Up(tmp_path / "data", "--on", "simulated", "--standbys", "1")
    try:
        running.await_green()
        yield running
    finally:
        running.clean()


def of(up: Up, name: str, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    return remote_requests.ask(up.port, method, f"/api/clusters/{name}/{path}", body)


def create(up: Up, name: str, **properties: Any) -> dict[str, Any]:
    made: dict[str, Any] = remote_requests.ask(up.port, "POST", "/api/clusters", {"name": name, **properties})
    up.await_true(lambda: of(up, name, "GET", "cluster")["settled"], f"{name} in its places")
    return made


def active(up: Up, name: str) -> str:
    groups = of(up, name, "GET", "cluster")["groups"]
    return str(groups[0]["active"])


async def frames(up: Up, name: str, count: int) -> list[dict[str, Any]]:
    url = f"ws://127.0.0.1:{up.port}/api/clusters/{name}/stream"
    async with websockets.connect(url, additional_headers=up.headers()) as socket:
        return [json.loads(await asyncio.wait_for(socket.recv(), 20)) for _ in range(count)]


def test_each_cluster_has_its_own_api_clock_and_faults(up: Up) -> None:
    made = create(up, "one", standbys=2, seed=5)
    create(up, "two", protocol="multi-paxos", standbys=2, rate_per_s=20)
    assert made["fabric"] == "simulated" and made["seed"] == 5
    listed = {each["name"]: each for each in up.get("/api/clusters")}
    assert list(listed) == ["main", "one", "two"]
    assert (listed["one"]["protocol"], listed["two"]["protocol"]) == ("mams", "multi-paxos")
    assert len({each["cluster"] for each in listed.values()}) == 3

    old = active(up, "one")
    of(up, "one", "POST", "faults", {"verb": "crash", "targets": ["active of g1"]})
    up.await_true(lambda: active(up, "one") not in ("", old), "a failover of one")
    states = {server["process"] for server in of(up, "two", "GET", "cluster")["servers"]}
    assert states == {"running"} and up.cluster()["settled"]

    of(up, "two", "POST", "clock", {"playing": False})
    paused = of(up, "two", "GET", "clock")
    of(up, "one", "POST", "fs", {"do": "mkdir", "path": "/only-here"})
    assert of(up, "two", "GET", "clock") == paused and of(up, "one", "GET", "clock")["playing"]
    with pytest.raises(RequestRefused, match="ENOENT"):
        remote_requests.ask(up.port, "POST", "/api/fs", {"do": "stat", "path": "/only-here"})

    [first, *_] = asyncio.run(frames(up, "two", 1))
    assert first["type"] == "hello" and first["clock"]["now_ns"] == paused["now_ns"]
    assert sorted(first["picture"]["servers"]) == ["mds1", "mds2", "mds3"]


def test_a_cluster_is_deleted_or_begins_afresh_with_the_control_plane(up: Up) -> None:
    create(up, "kept", standbys=1, seed=9, rate_per_s=7)
    create(up, "gone", standbys=1)
    left = remote_requests.ask(up.port, "DELETE", "/api/clusters/gone")
    assert [each["name"] for each in left] == ["main", "kept"]
    assert not (up.data / "beside" / "gone").exists()
    with pytest.raises(RequestRefused, match="no cluster is called 'gone'"):
        of(up, "gone", "GET", "cluster")
    with pytest.raises(RequestRefused, match="no cluster is called 'gone'"):
        remote_requests.ask(up.port, "DELETE", "/api/clusters/gone")
    up.end(signal.SIGTERM)
    assert up.process.returncode == 0
    again = Up(up.data, "--on", "simulated")
    try:
        again.await_green()
        again.await_true(lambda: of(again, "kept", "GET", "cluster")["settled"], "kept in its places")
        cluster = of(again, "kept", "GET", "cluster")
        assert cluster["run"] == 2 and cluster["clients"][0]["rate_per_s"] == 7
        assert {each["name"]: each["seed"] for each in again.get("/api/clusters")}["kept"] == 9
    finally:
        again.clean()


def test_what_is_wrong_is_refused_in_one_line(up: Up) -> None:
    create(up, "one", standbys=0)
    for body, says in (
        ({"name": "main"}, "none of main,"),
        ({"name": "../x"}, "small letters"),
        ({"name": "one"}, "there is a cluster 'one' already"),
        ({"name": "x", "protocol": "nonsense"}, "nonsense"),
        ({"name": "x", "groups": 8, "standbys": 9}, "80"),
        ({"name": "x", "nodes": {"data_node": 99}}, "99 of data_nodes"),
        ({"name": "x", "nodes": {"cat": 1}}, "no kind of node"),
        ({"name": "x", "rate_per_s": -1}, "rate_per_s"),
    ):
        with pytest.raises(RequestRefused, match=says):
            remote_requests.ask(up.port, "POST", "/api/clusters", body)
    assert [each["name"] for each in up.get("/api/clusters")] == ["main", "one"]
    with pytest.raises(RequestRefused, match="the main cluster ends"):
        remote_requests.ask(up.port, "DELETE", "/api/clusters/main")


def test_the_prefix_opens_no_door(up: Up) -> None:
    create(up, "one", standbys=0)
    url = f"http://127.0.0.1:{up.port}/api/clusters/one/cluster"
    assert httpx.get(url).status_code == 401
    assert httpx.get(url, headers={**up.headers(), "Host": "evil.example"}).status_code == 403
    nested = httpx.get(f"http://127.0.0.1:{up.port}/api/clusters/one/clusters", headers=up.headers())
    assert nested.status_code == 404
