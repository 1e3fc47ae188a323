"""Files on real data nodes: written while servers are killed, and read back the same."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from backend import remote_requests
from backend.commands.contents import content_path
from backend.errors import LabError
from tests.processes.backend.running import REPOSITORY, Up, up

LENGTH = 4 << 20


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """One cluster for all tests here."""
    with up(tmp_path_factory.mktemp("nodes") / "data") as started:
        yield started
        assert started.end() < 6
        assert "Traceback" not in started.words()


class Halting(io.BytesIO):
    """A file whose read blocks at a position until the test releases it."""

    def __init__(self, data: bytes, places: list[int]):
        super().__init__(data)
        self._places = places
        self.reached = [threading.Event() for _ in places]
        self.let = [threading.Event() for _ in places]

    def read(self, size: int | None = -1) -> bytes:
        for place, reached, let in zip(self._places, self.reached, self.let, strict=True):
            if self.tell() >= place and not reached.is_set():
                reached.set()
                assert let.wait(60)
        return super().read(size)


def got(running: Up, path: str) -> bytes:
    file = io.BytesIO()
    remote_requests.receive(running.port, content_path(path), file)
    return file.getvalue()


def node(running: Up, name: str) -> dict[str, Any]:
    return next(each for each in running.cluster()["data_nodes"] if each["name"] == name)


def cli(running: Up, *words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "backend.cli", "fs", *words, "--port", str(running.port)],
        input=given, capture_output=True, cwd=REPOSITORY, timeout=60, check=False,
    )  # fmt: skip


def test_the_command_line_puts_appends_and_gets(running: Up, tmp_path: Path) -> None:
    local = tmp_path / "local"
    local.write_bytes(b"one\n" * 40_000)
    assert cli(running, "put", str(local), "/f").returncode == 0
    assert cli(running, "append", "-", "/f", given=b"two").returncode == 0
    assert cli(running, "get", "/f").stdout == local.read_bytes() + b"two"
    for words, says, code in (
        (("put", str(local), "/f"), b"EEXIST", 3),
        (("get", "/none"), b"ENOENT", 3),
        (("get", "/"), b"EISDIR", 3),
        (("put", str(tmp_path / "none"), "/g"), b"cannot read", 2),
        (("append", str(local), "/none"), b"ENOENT", 3),
        (("put", str(local), "/g", "--block-size", "1000"), b"EINVAL", 2),
        (("put", str(local), "/g", "--block-size", "1"), b"block_size", 2),
    ):
        reported = cli(running, *words)
        assert reported.returncode == code and says in reported.stderr and reported.stderr.count(b"\n") == 1


def test_the_status_reports_of_data_nodes(running: Up) -> None:
    reported = subprocess.run(
        [sys.executable, "-m", "backend.cli", "status", "-o", "json", "--port", str(running.port)],
        capture_output=True, cwd=REPOSITORY, timeout=60, check=True,
    )  # fmt: skip
    nodes = json.loads(reported.stdout)["data_nodes"]
    assert [node["name"] for node in nodes] == ["dn1", "dn2", "dn3"]
    assert all(node["process"] == "running" and node["pid"] in running.pids().values() for node in nodes)


def test_every_fault_of_a_process_works_on_a_data_node(running: Up) -> None:
    data, before = Random(2).randbytes(300_000), node(running, "dn3")
    remote_requests.send(running.port, "PUT", content_path("/struck"), io.BytesIO(data))
    running.fault("slow_disk", "dn1", ms=20)
    running.fault("slow_disk", "dn1", ms=0)
    running.fault("fail_disk", "dn1", on=True)
    assert got(running, "/struck") == data
    running.fault("fail_disk", "dn1", on=False)
    running.fault("cut", "dn2")
    running.fault("delay", "dn3", ms=5)
    assert got(running, "/struck") == data
    running.fault("heal_all")
    blocks = before["blocks"] + 5
    for verb in ("power_loss", "stop"):
        running.fault(verb, "dn3")
        assert node(running, "dn3")["process"] == "stopped"
        running.fault("restart", "dn3")
        running.await_true(lambda: node(running, "dn3")["blocks"] == blocks, "dn3 has its blocks again")
    assert got(running, "/struck") == data
    assert node(running, "dn3")["size"] == before["size"] + len(data)
    with pytest.raises(LabError, match="takes a metadata server"):
        running.fault("expire_session", "dn1")


def test_a_file_is_whole_though_the_active_and_a_data_node_are_killed_while_it_is_written(
    running: Up,
) -> None:
    """The last test here: it leaves servers stopped."""
    data, before = Random(1).randbytes(LENGTH), node(running, "dn2")["blocks"]
    source = Halting(data, [LENGTH * 35 // 100, LENGTH * 65 // 100])
    reported: list[Any] = []
    writing = threading.Thread(
        target=lambda: reported.append(
            remote_requests.send(running.port, "PUT", content_path("/big"), source)
        )
    )
    writing.start()
    for place, victim in enumerate((running.active(), "dn2")):
        assert source.reached[place].wait(30)
        share = LENGTH * 3 // 10 * (place + 1)
        running.await_true(lambda share=share: written(running) >= share, f"{share} bytes are written")
        running.fault("crash", victim)
        source.let[place].set()
    writing.join(90)
    assert reported == [{"size": LENGTH}] and got(running, "/big") == data
    assert node(running, "dn2")["process"] == "stopped"
    running.fault("restart", "dn2")
    running.await_true(
        lambda: node(running, "dn2")["blocks"] >= before + 64, "what dn2 missed is copied to it"
    )
    running.fault("crash", "dn1")
    running.fault("crash", "dn3")
    assert got(running, "/big") == data
    invariants = {status["invariant"]: status["state"] for status in running.cluster()["invariants"]}
    assert set(invariants.values()) == {"green"} and "blocks kept" in invariants


def written(running: Up) -> int:
    """Bytes in the file; 0 before it exists."""
    try:
        reported = remote_requests.ask(running.port, "POST", "/api/fs", {"do": "stat", "path": "/big"})
    except LabError:
        return 0
    return int(reported["result"]["length"])
