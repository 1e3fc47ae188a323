"""The wheel holds the built page and all that `up` needs: installed elsewhere, its command runs a cluster from its own files alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from backend.fabrics.home import free_port
from tests.processes.backend.running import REPOSITORY, START_S, until

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("wheel")
    command = [*PIP, "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", str(to), str(REPOSITORY)]
    subprocess.run(command, check=True, timeout=120)
    [file] = to.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The command in an environment of its own, which borrows the packages of this one."""
    there = tmp_path_factory.mktemp("installed") / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(there)], check=True, timeout=60)
    into = ["--python", str(there), "install", "-q", "--no-index", "--no-deps", str(wheel)]
    subprocess.run([*PIP, *into], check=True, timeout=120)
    [packages] = there.glob("lib/python*/site-packages")
    (packages / "borrowed.pth").write_text(str(Path(pytest.__file__).parents[1]))
    yield there / "bin" / "cloverlab"


def environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return {**kept, "HOME": str(home)}


def test_the_wheel_has_the_page_the_scenarios_and_the_docs(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in (
        "frontend/dist/index.html",
        "scenarios/faults/calm.yaml",
        "papers/cfs/election.md",
        "docs/faults.md",
        "nodes/__main__.py",
    ):
        assert f"cloverlab/{wanted}" in names, wanted
    assert not [name for name in names if not name.startswith(("cloverlab/", "cloverlab-"))]
    assert not [name for name in names if "__pycache__" in name or name.startswith("cloverlab/tests")]


def test_its_command_runs_a_scenario(program: Path, tmp_path: Path) -> None:
    [scenario] = program.parents[1].glob("lib/python*/site-packages/cloverlab/scenarios/faults/calm.yaml")
    ran = subprocess.run(
        [str(program), "run", str(scenario)], cwd=tmp_path, env=environment(tmp_path), capture_output=True, timeout=120
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr


def test_its_command_runs_a_cluster_with_the_page(program: Path, tmp_path: Path) -> None:
    port = free_port(set())
    command = [str(program), "up", "--port", str(port), "--data", str(tmp_path / "data")]
    log = (tmp_path / "up.log").open("wb")
    up = subprocess.Popen(command, cwd=tmp_path, env=environment(tmp_path), stdout=log, stderr=log)
    try:
        until(lambda: answers(port, "/readyz") is not None, START_S)
        ids = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
        assert str(program.parent) in ids
    finally:
        up.send_signal(signal.SIGINT)
        assert up.wait(START_S) in (0, 130), (tmp_path / "up.log").read_text()


def answers(port: int, path: str) -> bytes | None:
    try:
        with urlopen(f"http://127.0.0.1:{port}{path}", timeout=2) as answer:
            return bytes(answer.read())
    except OSError:
        return None
