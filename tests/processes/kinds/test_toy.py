"""A kind of node that only a row and a server describe, on the simulator, as processes and on the page."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import websockets

from tests.processes.backend.running import CLOVERLAB, REPOSITORY, Up, up

TOY = Path(__file__).parent / "toy"
SCENARIO = """
name: a toy counts on
teaches: the simulator starts, crashes and restarts a node that it knows by its row alone
cluster: {standbys: 1, toy_nodes: 2}
workload: null
steps:
  - {at: 3s, fault: crash, target: toy2}
  - {at: 6s, fault: restart, target: toy2}
end: {at: 15s}
expect: {invariants: all, reported: {JournalStored: 24}}
"""


@pytest.fixture(autouse=True)
def _has_toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{TOY}{os.pathsep}{REPOSITORY}")


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Up]:
    options = ("--standbys", "1", "--data-nodes", "1", "--toy-nodes", "2")
    with up(tmp_path / "data", *options) as running:
        yield running


def node(running: Up, name: str) -> dict[str, Any]:
    return next(each for each in running.cluster()["nodes"] if each["name"] == name)


async def hello(running: Up) -> dict[str, Any]:
    address = f"ws://127.0.0.1:{running.port}/api/stream"
    async with websockets.connect(address, additional_headers=running.headers()) as socket:
        frame: dict[str, Any] = json.loads(await socket.recv())
        return frame


def test_toys_are_crashed_and_restarted_by_name_and_have_a_lane(running: Up) -> None:
    def counted() -> int:
        return int(node(running, "toy2")["figures"]["sn"])

    running.await_true(lambda: counted() >= 2, "two numbers of toy2")
    before = node(running, "toy2")
    running.fault("crash", "toy2")
    assert node(running, "toy2")["process"] == "stopped" and node(running, "toy1")["process"] == "running"
    running.fault("restart", "toy2")
    running.await_true(lambda: counted() > before["figures"]["sn"], "toy2 to count on from its disk")
    assert node(running, "toy2")["pid"] not in (0, before["pid"])

    frame = asyncio.run(hello(running))
    assert frame["picture"]["nodes"]["toy1"]["kind"] == "toy_node"
    [lane] = [lane for lane in frame["lanes"] if lane["kind"] == "toy_node"]
    assert (lane["label"], lane["columns"][0]["label"]) == ("toy", "counted")
    assert "toy_node" in next(verb["targets"] for verb in frame["verbs"] if verb["verb"] == "crash")
    status = [*CLOVERLAB, "status", "--port", str(running.port), "-o", "json"]
    reported = json.loads(subprocess.run(status, cwd=REPOSITORY, capture_output=True, check=True).stdout)
    assert [toy["name"] for toy in reported["toy_nodes"]] == ["toy1", "toy2"]


def test_a_scenario_has_toys_on_the_simulator(tmp_path: Path) -> None:
    file = tmp_path / "toys.yaml"
    file.write_text(SCENARIO)
    ended = subprocess.run([*CLOVERLAB, "run", str(file)], cwd=REPOSITORY, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    file.write_text(SCENARIO.replace("target: toy2", "target: toy3"))
    ended = subprocess.run([*CLOVERLAB, "run", str(file)], cwd=REPOSITORY, capture_output=True, text=True)
    assert ended.returncode != 0 and "toy3" in ended.stdout + ended.stderr
