"""Access to a running cluster from outside: the command line, the live stream, unauthenticated peers."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import websockets

from tests.processes.backend.running import REPOSITORY, Up, up


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with up(tmp_path_factory.mktemp("outside") / "data") as running:
        yield running


def cloverlab(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "backend.cli", *arguments]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=False)


def test_status_as_json_is_what_is_promised(cluster: Up) -> None:
    reported = json.loads(cloverlab("--port", str(cluster.port), "status", "-o", "json").stdout)
    assert list(reported) == [
        "cluster", "protocol", "settled", "problems", "servers", "data_nodes", "journal_nodes", "groups", "replicated"
    ]  # fmt: skip
    assert set(reported["replicated"]) <= {server["name"] for server in reported["servers"]}
    assert sorted(server["role"] for server in reported["servers"]) == [
        "active",
        "standby",
        "standby",
        "standby",
    ]
    keys = ["name", "group", "role", "process", "epoch", "sn", "lag", "pid", "address"]
    assert all(list(server) == keys for server in reported["servers"])
    assert "mds1" in cloverlab("status", "--port", str(cluster.port)).stdout


def test_faults_by_the_command_line(cluster: Up) -> None:
    port = str(cluster.port)
    done = cloverlab("fault", "delay", "mds2", "mds3", "--ms", "5", "--port", port, "-o", "json")
    assert done.returncode == 0 and json.loads(done.stdout)["fault"] >= 1
    assert cloverlab("--port", port, "fault", "heal_all").returncode == 0
    wrong = cloverlab("fault", "crash", "mds77", "--port", port)
    assert (
        (wrong.returncode, wrong.stdout) == (3, "")
        and wrong.stderr.count("\n") == 1
        and "mds77" in wrong.stderr
    )


def test_the_file_system_by_the_command_line(cluster: Up) -> None:
    port = str(cluster.port)
    for arguments in (
        ("mkdir", "-p", "/by/hand"),
        ("create", "/by/hand/f"),
        ("mv", "/by/hand/f", "/by/hand/g"),
    ):
        done = cloverlab("fs", *arguments, "--port", port)
        assert (done.returncode, done.stderr) == (0, "")
    assert cloverlab("fs", "ls", "/by/hand", "--port", port).stdout == "g\n"
    assert json.loads(cloverlab("fs", "stat", "/by/hand/g", "--port", port, "-o", "json").stdout)["kind"]
    assert cloverlab("fs", "rm", "-r", "/by", "--port", port).returncode == 0
    gone = cloverlab("fs", "ls", "/by", "--port", port)
    assert gone.returncode == 3 and "ENOENT" in gone.stderr and gone.stderr.count("\n") == 1


def test_one_directory_has_one_holder(cluster: Up) -> None:
    reported = cloverlab("up", "--port", "1024", "--data", str(cluster.data))
    assert reported.returncode == 3 and f"(pid {cluster.process.pid}: " in reported.stderr
    assert reported.stderr.count("\n") == 1


async def frames(
    cluster: Up, kinds: set[str], wish: object = None, path: str = ""
) -> dict[str, dict[str, Any]]:
    """The first frame of each kind."""
    found: dict[str, dict[str, Any]] = {}
    async with (
        websockets.connect(
            f"ws://127.0.0.1:{cluster.port}/api/stream{path}", additional_headers=cluster.headers()
        ) as socket,
        asyncio.timeout(20),
    ):
        if wish is not None:
            await socket.send(json.dumps(wish))
        while kinds - set(found):
            reported = json.loads(await socket.recv())
            found.setdefault(reported["type"], reported)
    return found


def test_the_stream_reports_events_rates_and_messages(cluster: Up) -> None:
    found = asyncio.run(frames(cluster, {"hello", "events", "rate", "messages"}, {"messages": True}))
    assert set(found["hello"]["picture"]["servers"]) == {"mds1", "mds2", "mds3", "mds4"}
    seqs = [event["seq"] for event in found["events"]["events"]]
    assert seqs == sorted(seqs) and seqs[0] > found["hello"]["seq"] and found["events"]["next"] == seqs[-1]
    sender, to, kind, at_ns, count = found["messages"]["lines"][0]
    assert isinstance(sender, str) and isinstance(to, str) and kind and at_ns > 0 and count >= 1


def test_the_stream_fills_the_gap_of_a_page_that_comes_back(cluster: Up) -> None:
    seq = cluster.cluster()["seq"] - 10
    found = asyncio.run(frames(cluster, {"hello", "events"}, path=f"?after={seq}"))
    assert found["events"]["events"][0]["seq"] == seq + 1


def test_unknown_peers_and_nonsense_at_the_stream_are_closed(cluster: Up) -> None:
    async def body() -> None:
        address = f"ws://127.0.0.1:{cluster.port}/api/stream"
        key = cluster.headers()
        for origin, headers in (
            ("http://evil.example", key),
            (None, {}),
            (None, {"Authorization": "Bearer x"}),
        ):
            with pytest.raises(websockets.InvalidStatus):
                await websockets.connect(address, origin=origin, additional_headers=headers)  # type: ignore[arg-type]
        for nonsense in ("{", '{"messages": 5}', '{"drop": "tables"}', "x" * 100_000):
            async with websockets.connect(address, additional_headers=key) as socket, asyncio.timeout(20):
                with pytest.raises(websockets.ConnectionClosed):
                    await socket.send(nonsense)
                    while True:
                        await socket.recv()

    asyncio.run(body())
    assert "Traceback" not in cluster.words()


def test_a_record_of_the_journal_is_read_by_the_server_itself(cluster: Up) -> None:
    sn = cluster.await_true(lambda: cluster.server("mds2")["sn"], "a durable group")
    reported = cluster.get(f"/api/journal/mds2/{sn}")
    assert reported["group"]["sn"] == sn
