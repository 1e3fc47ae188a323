"""A supervisor as a process of its own: authentication of its callers, its requests, and its reports on its server."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from backend.errors import Unavailable
from backend.fabrics.home import free_port
from backend.fabrics.host import ContainerHost
from backend.fabrics.watched_cluster import wait_until
from nodes.config import NodeConfig, ServerConfig, one_group
from nodes.real.connection import ProcessIdentity
from nodes.supervisor.messages import CONTROL
from nodes.supervisor.secret import container_keys
from nodes.supervisor.supervisor import BEAT_S
from nodes.trace.events import Started
from nodes.wire.keys import Realm, keys_of, supervisor_key

ROOT = Path(__file__).resolve().parents[3]
TOKEN = b"a" * 64
CLUSTER = "clover-test"


class Played:
    """A supervisor, its directory and the control plane's end."""

    def __init__(self, directory: Path, token: bytes | None = TOKEN):
        self.directory = directory
        self.port, self.metrics = free_port(set()), free_port(set())
        if token is not None:
            (directory / "token").write_bytes(token)
        self.log = directory / "log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [
                    sys.executable, "-m", "nodes.supervisor", "--name", "mds1", "--data", str(directory / "data"),
                    "--token", str(directory / "token"), "--port", str(self.port), "--metrics", str(self.metrics),
                    "--health", str(directory / "healthy"),
                ],
                cwd=ROOT, stdout=log, stderr=log,
            )  # fmt: skip
        self.reported: list[Any] = []

    def host(self, token: bytes = TOKEN) -> ContainerHost:
        return ContainerHost(
            "mds1", ("127.0.0.1", self.port), token, lambda host, before, now: self.reported.append(now)
        )

    def words(self) -> str:
        return self.log.read_text()


@contextlib.asynccontextmanager
async def played(directory: Path, token: bytes | None = TOKEN) -> AsyncIterator[tuple[Played, ContainerHost]]:
    play = Played(directory, token)
    host = play.host()
    connecting = asyncio.create_task(host.keep_connected())
    try:
        yield play, host
    finally:
        connecting.cancel()
        host.close()
        play.process.send_signal(signal.SIGTERM)
        play.process.wait(10)


async def reached(host: ContainerHost) -> None:
    assert await wait_until(lambda: host.status is not None, 15), host.trouble


def launch(**changed: Any) -> dict[str, Any]:
    cluster = one_group(cluster=CLUSTER)
    config = msgspec.to_builtins(ServerConfig("mds1", "g1", cluster))
    reported = {
        "kind": "server",
        "cluster": CLUSTER,
        "config": config,
        "peers": {},
        "coordination": "127.0.0.1:9",
        "seed": 1,
    }
    return {**reported, **changed}


def test_one_that_stands_still_does_not_go_on_showing_what_it_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def play_it() -> None:
        async with played(tmp_path) as (play, host):
            await reached(host)
            monkeypatch.setattr("backend.fabrics.host.SILENT_S", 2 * BEAT_S)
            play.process.send_signal(signal.SIGSTOP)
            assert await wait_until(lambda: host.status is None, 20)
            assert host.trouble
            play.process.send_signal(signal.SIGCONT)
            await reached(host)

    asyncio.run(play_it())


def test_it_keeps_a_server_and_reports_its_events_and_its_end(tmp_path: Path) -> None:
    async def play_it() -> None:
        async with played(tmp_path) as (play, host):
            await reached(host)
            assert host.state == "stopped" and host.status is not None and host.status.cluster == ""
            host.follow(CLUSTER, 0)
            await host.start(launch())
            assert host.state == "running" and host.pid
            events: list[Any] = []
            assert await wait_until(lambda: bool(events.extend(host.read()) or events), 10)
            assert isinstance(events[0].event, Started) and events[0].event.pid == host.pid
            assert events[0].event.address == "mds1:7000"
            assert (await host.ask("ask", {"question": {"do": "status"}}))["pid"] == host.pid
            with pytest.raises(Unavailable, match="runs already"):
                await host.start(launch())
            await host.pause()
            assert host.paused
            await host.resume()
            os.kill(host.pid, signal.SIGKILL)
            assert await wait_until(lambda: host.state == "stopped", 10)
            assert host.ended.startswith("signal SIGKILL")
            await host.start(launch())
            await host.kill()
            assert host.state == "stopped" and host.ended == ""
            with urllib.request.urlopen(f"http://127.0.0.1:{play.metrics}/metrics", timeout=5) as page:
                text = page.read().decode()
            assert 'cloverlab_process_starts_total{kind="server",server="mds1"} 2.0' in text

    asyncio.run(play_it())


def test_it_keeps_a_data_node_and_takes_what_it_had_not_synced(tmp_path: Path) -> None:
    config = msgspec.to_builtins(NodeConfig("mds1", one_group(cluster=CLUSTER)))

    async def play_it() -> None:
        async with played(tmp_path) as (_, host):
            await reached(host)
            await host.start(launch(kind="data-node", config=config, coordination=""))
            assert host.status is not None and (host.state, host.status.kind) == ("running", "data-node")
            reported = await host.ask("lose_power", {"seed": 1}, 8)
            assert host.state == "stopped" and isinstance(reported["lost"], list)

    asyncio.run(play_it())


def test_a_container_that_comes_back_goes_on_with_what_ran(tmp_path: Path) -> None:
    async def play_it() -> None:
        async with played(tmp_path) as (_, host):
            await reached(host)
            await host.start(launch())
        async with played(tmp_path) as (_, host):
            await reached(host)
            assert await wait_until(lambda: host.state == "running", 15)
            await host.kill()
        async with played(tmp_path) as (_, host):
            await reached(host)
            await asyncio.sleep(0)
            assert (await host.ask("status"))["status"]["state"] == "stopped"

    asyncio.run(play_it())


def test_a_wrong_token_is_refused_and_said(tmp_path: Path) -> None:
    async def play_it() -> None:
        async with played(tmp_path) as (play, good):
            await reached(good)
            unknown_peer = play.host(b"b" * 64)
            connecting = asyncio.create_task(unknown_peer.keep_connected())
            assert await wait_until(lambda: "proof" in play.words() or "token" in play.words(), 10), (
                play.words()
            )
            with pytest.raises(Unavailable):
                await unknown_peer.ask("kill")
            connecting.cancel()
            assert (await good.ask("status"))["status"]["name"] == "mds1"
            assert "Traceback" not in play.words()

    asyncio.run(play_it())


def test_without_a_token_every_call_is_refused_until_there_is_one(tmp_path: Path) -> None:
    async def play_it() -> None:
        async with played(tmp_path, token=None) as (play, host):
            assert await wait_until(lambda: "no token in" in play.words(), 15)
            assert host.status is None
            (tmp_path / "token").write_bytes(TOKEN)
            await reached(host)

    asyncio.run(play_it())


@pytest.mark.parametrize("token", [None, b"", b"a" * 31])
def test_without_a_whole_token_nobody_is_challenged(tmp_path: Path, token: bytes | None) -> None:
    """A proof with the empty key would be as good as any other."""

    async def play_it() -> None:
        async with played(tmp_path, token=token) as (play, _):
            assert await wait_until(lambda: "every call is refused" in play.words(), 15)
            with socket.create_connection(("127.0.0.1", play.port), timeout=5) as unknown_peer:
                assert unknown_peer.recv(4096) == b""

    asyncio.run(play_it())


def test_a_container_with_keys_of_its_own_obeys_the_control_plane_and_nobody_with_anothers(
    tmp_path: Path,
) -> None:
    """An attacker who has another container has its secret, and the keys of servers, which all servers share."""
    secret = msgspec.json.encode(container_keys(TOKEN, "mds1", keys_of(TOKEN, serves=False)))
    peer = keys_of(TOKEN, serves=True).peer

    async def play_it() -> None:
        async with played(tmp_path, token=secret) as (play, host):
            await reached(host)
            for stolen in (supervisor_key(TOKEN, "mds2"), peer, TOKEN, secret):
                attacker = play.host()
                attacker._identity = ProcessIdentity(
                    attacker._identity.cluster, CONTROL, Realm.SUPERVISOR, {Realm.SUPERVISOR: stolen}
                )
                refusals = play.words().count("prove")
                dialling = asyncio.create_task(attacker.keep_connected())
                refused = partial(lambda before: play.words().count("prove") > before, refusals)
                assert await wait_until(refused, 10), play.words()
                with pytest.raises(Unavailable):
                    await attacker.ask("kill")
                dialling.cancel()
            assert (await host.ask("status"))["status"]["name"] == "mds1"
            with pytest.raises(Unavailable, match="no keys of a server"):
                await host.start(launch())

    asyncio.run(play_it())


@pytest.mark.parametrize(
    "sent", [b"GET / HTTP/1.1\r\n\r\n", bytes(64), b"\xff\xff\xff\x7f", b"\x04\x00\x00\x00\xc1\xc1\xc1\xc1"]
)
def test_a_unknown_peer_at_the_port_is_closed(tmp_path: Path, sent: bytes) -> None:
    async def play_it() -> None:
        async with played(tmp_path) as (play, host):
            await reached(host)
            with socket.create_connection(("127.0.0.1", play.port), timeout=5) as unknown_peer:
                unknown_peer.sendall(sent)
                while unknown_peer.recv(4096):
                    pass
            assert (await host.ask("status"))["status"]["name"] == "mds1"
            assert "Traceback" not in play.words()

    asyncio.run(play_it())


@pytest.mark.parametrize(
    ("do", "args", "said"),
    [
        ("reboot", {}, "'reboot' is not offered; there are status, start"),
        ("signal", {"number": 9}, "'signal' is not offered"),
        ("follow", {"cluster": "../../etc", "after": 0}, "is no name of a cluster"),
        ("follow", {}, "'cluster' is missing"),
        ("forget", {"cluster": "."}, "is no name of a cluster"),
        (
            "start",
            launch(kind="shell"),
            "'shell' is not offered; there are server, journal-node, data-node, workload",
        ),
        ("start", launch(data="/etc"), "unknown field `data`"),
        ("start", launch(cluster="a/b"), "is no name of a cluster"),
        ("start", launch(config={"name": "mds1"}), "missing required field"),
        ("rules", {"rules": [{"peer": 1}]}, "Expected `str`"),
        ("ask", {"question": {"do": "status"}}, "does not run a server now"),
        ("lose_power", {}, "known of who has a disk only"),
    ],
)
def test_what_is_not_offered_is_refused_in_one_line(
    tmp_path: Path, do: str, args: dict[str, Any], said: str
) -> None:
    async def play_it() -> None:
        async with played(tmp_path) as (play, host):
            await reached(host)
            with pytest.raises(Unavailable) as refused:
                await host.ask(do, args, 25)
            assert said in refused.value.message and "\n" not in refused.value.message
            assert (await host.ask("status"))["status"]["state"] == "stopped"
            assert "Traceback" not in play.words()

    asyncio.run(play_it())
