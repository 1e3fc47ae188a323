"""Invalid input to a running cluster: one line each, no loss, and no process ends except one whose disk is unusable."""

from __future__ import annotations

import asyncio
import io
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from backend import remote_requests
from backend.commands.contents import content_path
from backend.errors import LabError
from nodes.metadata_server.checkpoints import messages as c
from nodes.protocols.vssp import messages as v
from nodes.protocols.vssp.manifest import image_name
from nodes.protocols.vssp.packets import sums
from nodes.real.process import RealWorld, client_world
from nodes.wire import data_messages as d
from nodes.wire.keys import keys_of
from nodes.wire.messages import Mark, Message
from tests.processes.backend.running import PATIENCE_S, Up, up

BYTES = Random(1).randbytes(300_000)
MARK = Mark(0, 1, 7, 1)
IMAGE = image_name(MARK, 5)
NOBODYS = (1 << 48) | 0x7777
PACKET = b"x" * (1 << 16)
NO_NAMES = ["", "../../token", "a/b", "x\ny", "n" * 10_240]
TO_SERVERS: list[Message] = [
    v.OpenImage(IMAGE, 1, MARK, 1, ["stranger", "mds1"], "vssp"),
    v.ImagePacket(IMAGE, 1, 0, 0, False, bytes(len(sums(PACKET))), PACKET),
    v.ImagePacket("../../token", 1, 0, 0, False, sums(PACKET), PACKET),
    v.CloseImage(IMAGE, b"rubbish"),
    v.OpenImage("../../etc/passwd", 1, MARK, 1, ["mds1"], "vssp"),
    v.RemoveFile("../token"),
    v.RecoverFile("nothing", "stranger", -1, 1 << 60),
    v.FetchFile(1, "../token", 0, 1 << 40),
    d.Heartbeat(5, 0, "nowhere", 1 << 62, 0, 1),
    d.FullReport(5, 0, 0, 1, [d.ReplicaRow(NOBODYS, 1, 1 << 60, d.FINAL)]),
    d.Locate(9, [NOBODYS, -1]),
    *(c.Drain(1, name) for name in NO_NAMES),
    *(c.WriteBarrier(1, name, 1 << 63, True) for name in NO_NAMES),
    *(c.BeginMarking(1, name) for name in NO_NAMES),
]
TO_DATA_NODES: list[Message] = [
    d.WriteBlock((9 << 48) | 1, 1, 0, [], {}, 0),
    d.WriteBlock(NOBODYS, 1, 512, [], {}, 0),
    d.ReadBlock(3, NOBODYS, 1, 0, 512),
    d.Remove(0, [((1 << 48) | 1, 1, d.FINAL)], "freed"),
    d.Remove(1 << 60, [((1 << 48) | 1, 1, d.FINAL)], "freed"),
    d.HeartbeatAck(1, 1 << 60, d.Void(5, [(0, 1 << 60)])),
    d.WriteBlock(NOBODYS, 1, 0, [], {}, 1 << 60),
]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with up(tmp_path_factory.mktemp("bad") / "data", "--standbys", "2") as running:
        remote_requests.send(running.port, "PUT", content_path("/f"), io.BytesIO(BYTES))
        yield running


def events(cluster: Up, *kinds: str) -> list[Any]:
    run = cluster.get("/api/runs")[0]["run"]
    return list(cluster.get(f"/api/runs/{run}/events?kinds={','.join(kinds)}&limit=5000")["events"])


def unharmed(cluster: Up) -> None:
    file = io.BytesIO()
    remote_requests.receive(cluster.port, content_path("/f"), file)
    assert file.getvalue() == BYTES
    assert {
        status["invariant"] for status in cluster.cluster()["invariants"] if status["state"] == "red"
    } == set()
    assert not [log for log in logs(cluster) if "Traceback" in log]


def logs(cluster: Up) -> list[str]:
    return [file.read_text() for file in (cluster.data / "logs").glob("*.err")] + [cluster.words()]


def test_every_file_is_its_owners_alone(cluster: Up) -> None:
    """Names of failed calls are in logs and events, too."""
    found = [
        path for path in cluster.data.rglob("*") if path.lstat().st_mode & 0o077 and not path.is_socket()
    ]
    assert found == []


def test_a_unknown_peer_who_knows_the_token_is_refused(cluster: Up) -> None:
    reported = cluster.cluster()
    servers = {each["name"]: each["address"] for each in reported["servers"]}
    nodes = {each["name"]: each["address"] for each in reported["data_nodes"]}
    answers: list[tuple[str, Any]] = []

    async def speak() -> None:
        token = (cluster.data / "token").read_bytes().strip()
        keys = keys_of(token, serves=True)
        world = client_world("stranger", reported["cluster"], keys, servers | nodes)
        all_there = asyncio.Event()

        def take(peer: str, message: Message) -> None:
            answers.append((peer, message))
            if sum(isinstance(each, d.BlockRead) for _, each in answers) == len(nodes):
                all_there.set()

        world.network.receive(take)
        for names, messages in ((servers, TO_SERVERS), (nodes, TO_DATA_NODES)):
            for name in names:
                for message in messages:
                    world.network.send(name, message)
        await asyncio.wait_for(all_there.wait(), 20)
        await asyncio.wait_for(reported_by_all(world), PATIENCE_S)
        world.network.close()

    async def reported_by_all(world: RealWorld) -> None:
        """Sends again until every server has received it, because a server without a connection receives nothing."""
        while deaf := set(servers) - {
            e["server"] for e in await asyncio.to_thread(events, cluster, "PacketRefused")
        }:
            for name in deaf:
                for message in TO_SERVERS:
                    world.network.send(name, message)
            await asyncio.sleep(0.5)

    asyncio.run(speak())
    refused = {m.refused for _, m in answers if isinstance(m, d.BlockRead | d.WriteOpened)}
    assert f"block {NOBODYS:016x} is not here" in refused
    assert "no group of this cluster has a block 9000000000001" in refused
    reasons = {e["reason"] for e in events(cluster, "PacketRefused")}
    assert any("checksum" in reason for reason in reasons), reasons
    assert "'../../etc/passwd' is no name of an image" in reasons
    reported_of = [e["what"] for e in events(cluster, "Warned")]
    for line in ("stranger reports like a data node", "stranger commands like a metadata server of group 1"):
        assert any(each.startswith(line) for each in reported_of), reported_of
    assert remote_requests.ask(cluster.port, "GET", "/api/checkpoints")["checkpoints"] == []
    unharmed(cluster)


def test_a_partition_that_is_missing_is_reported_and_keeps_nobody_out(cluster: Up) -> None:
    standby = next(each["name"] for each in cluster.cluster()["servers"] if each["role"] == "standby")
    images = cluster.data / "servers" / standby / "image"
    cluster.await_true(lambda: ordered(cluster, "image"), "an image is ordered")
    cluster.await_true(lambda: list(images.glob("*.manifest")), "the image is whole")
    cluster.fault("crash", standby)
    newest = max(images.glob("*.p03"))
    newest.unlink()
    cluster.fault("restart", standby)
    [reason] = cluster.await_true(
        lambda: [e["reason"] for e in events(cluster, "ImageRefused") if e["server"] == standby],
        "the start tells it",
    )
    assert newest.name in reason and "\n" not in reason
    cluster.await_green()
    unharmed(cluster)


def ordered(cluster: Up, do: str) -> bool:
    try:
        remote_requests.ask(cluster.port, "POST", "/api/pool", {"group": "g1", "do": do})
    except LabError:
        return False
    return True


# --- full disks --------------------------------------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A data directory in which the disks of all metadata servers and of dn1 have 6 MiB."""
    mounts = [tmp_path / "data" / "servers" / name for name in ("mds1", "mds2", "mds3", "dn1")]
    made: list[Path] = []
    for mount in mounts:
        mount.mkdir(parents=True)
        command = ["mount", "-t", "tmpfs", "-o", "size=6m", "none", str(mount)]
        if os.geteuid() or subprocess.run(command, capture_output=True, check=False).returncode:
            break
        made.append(mount)
    try:
        if made != mounts:
            pytest.skip("no small disk can be mounted here")
        yield tmp_path / "data"
    finally:
        for mount in made:
            subprocess.run(["umount", "-l", str(mount)], check=False)


def fill(directory: Path) -> Path:
    ballast = directory / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            return ballast
    raise AssertionError("the disk has no end")


def test_full_disks_cost_nothing_that_was_acknowledged(small: Path) -> None:
    """First a data node's disk fills, then the active's: others take over, and both return once there is room again."""
    with up(small, "--standbys", "2") as cluster:
        fill(small / "servers" / "dn1")
        remote_requests.send(cluster.port, "PUT", content_path("/f"), io.BytesIO(BYTES))
        old = cluster.active()
        ballast = fill(small / "servers" / old)
        for number in range(40):
            make = {"do": "mkdir", "path": f"/{number}{'n' * 200}"}
            remote_requests.ask(cluster.port, "POST", "/api/fs", make)
        cluster.await_true(lambda: cluster.server(old)["process"] == "stopped", f"{old} ends")
        line = f"no room is left in {small / 'servers' / old}: make some and start {old} again"
        assert line in (small / "logs" / f"{old}.err").read_text()
        ballast.unlink()
        cluster.fault("restart", old)
        cluster.await_green()
        listed = remote_requests.ask(cluster.port, "GET", "/api/fs/list?path=/&limit=100")
        assert len(listed["entries"]) >= 41
        unharmed(cluster)
