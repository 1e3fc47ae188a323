"""`up --on simulated` as a person uses it: the same commands as on processes, in virtual time."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend import remote_requests
from backend.errors import RequestRefused
from backend.simulated.cluster import replayed
from backend.simulated.inputs import read_log
from nodes.trace.events import FaultInjected
from tests.processes.backend.running import CLOVERLAB, PATIENCE_S, REPOSITORY, Up


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    running = Up(tmp_path_factory.mktemp("simulated") / "data", "--on", "simulated")
    try:
        running.await_green()
        yield running
    finally:
        running.clean()


def command(up: Up, *words: str, exits: int = 0) -> str:
    done = subprocess.run(
        [*CLOVERLAB, "--port", str(up.port), *words],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE_S,
    )
    assert done.returncode == exits, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_cluster_says_what_it_runs_on(up: Up) -> None:
    cluster = up.cluster()
    assert cluster["fabric"] == "simulated" and cluster["clock"].startswith("virtual")
    assert cluster["now_ns"] < 600 * 10**9
    assert {server["process"] for server in cluster["servers"]} == {"running"}
    assert {server["pid"] for server in cluster["servers"]} == {0}
    assert len(cluster["coordination"]["servers"]) == 3
    assert "leader" in {server["role"] for server in cluster["coordination"]["servers"]}


def test_files_are_written_and_read(up: Up, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(os.urandom(200_000))
    command(up, "fs", "mkdir", "/of/mine", "-p")
    command(up, "fs", "put", str(tmp_path / "file"), "/of/mine/file")
    command(up, "fs", "get", "/of/mine/file", str(tmp_path / "again"))
    assert (tmp_path / "again").read_bytes() == (tmp_path / "file").read_bytes()
    assert "ENOENT" in command(up, "fs", "stat", "/nowhere", exits=3)
    assert "file" in command(up, "fs", "ls", "/of/mine")


def test_a_crash_is_a_failover(up: Up) -> None:
    old = up.active()
    assert "fault" in command(up, "fault", "crash", "active of g1")
    up.await_true(lambda: up.serving() not in ("", old), "another active")
    assert up.server(old)["process"] == "stopped"
    command(up, "fault", "restart", old)
    up.await_green()


def test_faults_of_the_simulator_alone_are_there(up: Up) -> None:
    verbs = {verb["verb"]: verb for verb in up.get("/api/verbs")}
    assert {"reorder", "duplicate", "clog", "drift_clock"} <= set(verbs)
    command(up, "fault", "reorder", "mds1", "mds2", "--share", "0.3")
    assert {"a": "mds1", "b": "mds2", "direction": "both", "rule": "reorders 30%"} in up.cluster()["links"]
    command(up, "fault", "heal_all")
    assert up.cluster()["links"] == []
    with pytest.raises(RequestRefused, match="no target is called 'mds9'"):
        up.fault("crash", "mds9")
    with pytest.raises(RequestRefused, match="mds1 is running"):
        up.fault("restart", "mds1")


def test_a_server_joins(up: Up) -> None:
    reported = command(up, "fault", "add_server", "g1")
    assert "mds5" in reported
    up.await_green()
    assert up.server("mds5")["group"] == "g1" and up.server("mds5")["role"] == "standby"


def test_checkpoints_and_handover(up: Up) -> None:
    up.await_green()
    command(up, "checkpoint", "mark", "here")
    assert "complete" in command(up, "checkpoint", "list")
    old = up.active()
    assert old in command(up, "handover", "g1")
    up.await_green()


def test_the_clock_pauses_steps_and_hurries(up: Up) -> None:
    command(up, "clock", "pause")
    first = up.get("/api/clock")
    assert not first["playing"] and up.get("/api/clock") == first
    with pytest.raises(RequestRefused, match="the clock is paused"):
        remote_requests.ask(up.port, "POST", "/api/fs", {"do": "ls", "path": "/"})
    fault = up.fault("pause", "mds2")
    assert up.server("mds2")["process"] == "paused" and fault
    up.fault("resume", "mds2")
    assert up.get("/api/clock")["now_ns"] == first["now_ns"]
    command(up, "clock", "step", "message")
    stepped = up.get("/api/clock")
    assert first["now_ns"] < stepped["now_ns"] < first["now_ns"] + 10**9
    until_ns = stepped["now_ns"] + 3 * 10**9
    command(up, "clock", "play", "--speed", "10", "--until", str(until_ns / 10**9))
    up.await_true(lambda: not up.get("/api/clock")["playing"], "the instant")
    assert abs(up.get("/api/clock")["now_ns"] - until_ns) < 1_000
    remote_requests.ask(up.port, "POST", "/api/clock", {"until_event": "Committed", "speed": 1})
    up.await_true(lambda: not up.get("/api/clock")["playing"], "the event")
    assert "no event is called" in command(up, "clock", "play", "--until-event", "Nothing", exits=2)
    assert "is over" in command(up, "clock", "play", "--until", "0.001", exits=3)
    assert "playing" in command(up, "clock", "play")


def test_what_it_cannot_do_is_said_in_one_line(up: Up) -> None:
    with pytest.raises(RequestRefused, match="exports and imports no backups"):
        remote_requests.ask(up.port, "GET", "/api/checkpoints/here/export")


def test_the_wrong_kind_of_directory_is_refused(up: Up) -> None:
    up.end()
    done = subprocess.run(
        [*CLOVERLAB, "up", "--port", str(up.port), "--data", str(up.data)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 3 and "has a simulated cluster" in done.stderr


def test_each_start_is_a_fresh_run_with_a_log_that_replays(tmp_path: Path) -> None:
    up = Up(tmp_path / "data", "--on", "simulated", "--standbys", "1")
    try:
        up.await_green()
        old = up.active()
        up.fault("crash", old)
        up.await_true(lambda: up.serving() not in ("", old), "a failover")
        page = up.get("/api/runs/1/events?kinds=RoleChanged,FaultInjected,Placed&limit=5000")["events"]
        up.end(signal.SIGTERM)
        assert up.process.returncode == 0
        origin, entries = read_log(up.data / "inputs" / "1.jsonl")
        again = replayed(origin, entries, page[-1]["at_ns"])
        kinds = ("RoleChanged", "FaultInjected", "Placed")
        found = [
            (each.server, each.number, each.at_ns) for each in again if type(each.event).__name__ in kinds
        ]
        assert [(each["server"], each["number"], each["at_ns"]) for each in page] == found
        assert any(isinstance(each.event, FaultInjected) for each in again)
        second = Up(tmp_path / "data", "--on", "simulated")
        try:
            second.await_green()
            assert [run["run"] for run in second.get("/api/runs")] in ([1, 2], [2, 1])
            assert second.server("mds1")["process"] == "running"
            assert second.cluster()["run"] == 2
        finally:
            second.clean()
    finally:
        up.clean()
