"""`up --detach`, `ps`, `wait`, `logs` and `down`: a cluster that runs without a terminal."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.fabrics.children import began
from backend.fabrics.home import free_port
from tests.processes.backend.running import until
from tests.processes.backend.shell import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    made = Shell(tmp_path)
    yield made
    made.run("down")


def test_a_detached_cluster_from_start_to_end(shell: Shell) -> None:
    started = shell.run("up", "--protocol", "single", "--log-format", "json", "--detach")
    assert started.returncode == 0, started.stderr
    assert started.stdout.startswith(f"http://127.0.0.1:{shell.port}/?key=")
    [plane] = shell.planes()
    assert (plane["state"], plane["protocol"], plane["data"]) == (
        "running", "single", str(shell.directory / "clusters" / "single")
    )  # fmt: skip

    assert shell.run("wait", "active", "of", "g1", "is", "mds1").returncode == 0
    late = shell.run("wait", "2 standbys in g1", "--timeout", "0.2")
    assert late.returncode == 1 and "not within 0.2 s" in late.stderr
    assert "Ready after" in shell.run("logs", "control").stdout
    for name in ("control", "mds1"):
        lines = [json.loads(line) for line in shell.run("logs", name).stdout.splitlines() if line[:1] == "{"]
        assert {(line["name"], line["level"]) for line in lines} == {(name, "info")}
    unknown = shell.run("logs", "msd1")
    assert unknown.returncode == 2 and "did you mean mds1?" in unknown.stderr

    for words in (("up",), ("up", "--protocol", "single", "--port", str(free_port(set())))):
        refused = shell.run(*words)
        assert refused.returncode == 3 and f"pid {plane['pid']}: " in refused.stderr, refused.stderr
        assert refused.stderr.count("\n") == 1

    assert shell.run("down").returncode == 0
    assert shell.planes() == []
    gone = shell.run("down")
    assert gone.returncode == 3 and f"has port {shell.port}" in gone.stderr


def test_down_ends_the_servers_of_a_killed_control_plane(shell: Shell) -> None:
    assert shell.run("up", "--protocol", "single", "-d").returncode == 0
    [plane] = shell.planes()
    servers = json.loads((Path(str(plane["data"])) / "processes.json").read_text())
    os.kill(int(str(plane["pid"])), signal.SIGKILL)
    until(lambda: [each["state"] for each in shell.planes()] == ["without control plane"])
    assert shell.run("down").returncode == 0
    assert shell.planes() == []
    assert not [each for each in servers.values() if began(each["pid"]) == each["began"]]


def test_a_fresh_cluster_has_no_history(shell: Shell) -> None:
    assert shell.run("up", "--name", "mine", "--protocol", "single", "-d").returncode == 0
    assert shell.run("fs", "mkdir", "/before").returncode == 0
    in_use = shell.run("up", "--name", "mine", "--fresh", "--port", str(free_port(set())))
    assert in_use.returncode == 3 and "is in use" in in_use.stderr
    shell.run("down")
    (shell.directory / "clusters" / "mine" / "notes.txt").write_text("a person's own file")
    assert (
        shell.run("up", "--name", "mine", "--protocol", "mams", "--standbys", "1", "--fresh", "-d").returncode
        == 0
    )
    assert "before" not in shell.run("fs", "ls", "/").stdout
    assert (shell.directory / "clusters" / "mine" / "notes.txt").exists()


def test_a_detached_control_plane_that_cannot_start_says_why(shell: Shell) -> None:
    failed = shell.run("up", "--zookeeper", "127.0.0.1:1", "-d")
    assert (failed.returncode, failed.stdout) == (4, "") and "no ZooKeeper answers" in failed.stderr


def test_down_deletes_the_data_when_asked(shell: Shell) -> None:
    assert shell.run("up", "--name", "mine", "--protocol", "single", "-d").returncode == 0
    directory = shell.directory / "clusters" / "mine"
    (directory / "notes.txt").write_text("a person's own file")
    stopped = shell.run("down", "--delete")
    assert stopped.returncode == 0 and stopped.stderr.endswith(f"its data in {directory} are deleted\n")
    assert sorted(path.name for path in directory.iterdir()) == ["key", "lock", "notes.txt"]
