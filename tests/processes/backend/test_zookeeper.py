"""`up --zookeeper`: a foreign ensemble (here a coordination server that the test starts)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.fabrics.home import free_port
from tests.processes.backend.running import CLOVERLAB, REPOSITORY, up


@pytest.fixture
def ensemble(tmp_path: Path) -> Iterator[str]:
    port = free_port(set())
    command = [
        sys.executable,
        "-m",
        "nodes.coordination",
        "--port",
        str(port),
        "--data",
        str(tmp_path / "ensemble"),
    ]
    process = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE)
    assert process.stdout is not None and b"ready" in process.stdout.readline()
    yield f"127.0.0.1:{port}"
    process.terminate()
    process.wait(10)
    process.stdout.close()


def test_a_foreign_ensemble_is_used_through_relays(tmp_path: Path, ensemble: str) -> None:
    with up(tmp_path / "data", "--zookeeper", ensemble) as running:
        service = running.cluster()["coordination"]
        assert (service["embedded"], service["address"], service["pid"]) == (False, ensemble, 0)
        assert "coordination" not in running.pids()
        old = running.active()
        running.fault("cut", old, "coordination")
        running.await_true(lambda: running.serving() not in ("", old), "another active")
        running.fault("heal_all")
        running.await_true(
            lambda: running.server(old)["role"] == "standby", "the old active is a standby again"
        )
        taken = running.active()
        running.fault("take_lock", "g1")
        running.await_true(lambda: running.serving() not in ("", taken), "another active")
        assert running.end() < 8


@pytest.mark.parametrize(
    ("hosts", "code"),
    [("127.0.0.1:1", 4), ("127.0.0.1:1,127.0.0.1:2", 4), ("nonsense:", 2), ("no.such.host.invalid:2181", 4)],
)
def test_an_unreachable_ensemble_gets_one_line(tmp_path: Path, hosts: str, code: int) -> None:
    command = [
        *CLOVERLAB,
        "up",
        "--port",
        str(free_port(set())),
        "--data",
        str(tmp_path / "data"),
        "--zookeeper",
        hosts,
    ]
    reported = subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=False
    )
    assert (reported.returncode, reported.stdout, reported.stderr.count("\n")) == (code, "", 1), (
        reported.stderr
    )
    assert "--zookeeper" in reported.stderr
