"""The same files on real processes, scaled so that a session lasts one or two seconds. Some of them, or with `CLOVERLAB_SCENARIOS=all` every
file about several groups, files, the pool or checkpoints."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.scenarios.reader import read
from backend.scenarios.runner import run
from tests.chosen import SCENARIOS, chosen
from tests.missed import missed
from tests.processes.backend.running import REPOSITORY, until
from tests.slowness import slower

ROOT = Path(__file__).resolve().parents[3] / "scenarios"
SCALES = {"papers": 0.2, "faults": 0.2, "groups": 0.5, "recovery": 0.5, "data": 0.5, "pool": 0.5}
"""Scale by directory. In the other directories a hole is open, or another family runs."""
SLOWER = {"recovery/clocks-apart.yaml": 1.0}
"""Files that cannot be scaled down, because they count operations."""
FILES = sorted(str(file.relative_to(ROOT)) for kind in SCALES for file in (ROOT / kind).glob("*.yaml"))
EVERY_RUN = (
    "faults/crash-the-active.yaml",
    "faults/power-loss-of-all.yaml",
    "faults/coordination-restarts.yaml",
    "groups/rename-storm.yaml",
    "recovery/time-server-crashes.yaml",
    "data/node-dies-in-the-pipeline.yaml",
)


@pytest.mark.parametrize("file", chosen(EVERY_RUN, FILES, SCENARIOS))
def test_it_holds(file: str) -> None:
    scale = slower(SLOWER.get(file, SCALES[file.partition("/")[0]]))
    for scenario in read(ROOT / file):
        outcome = asyncio.run(run(scenario, "processes", scenario.seed, scale))
        assert outcome.held, missed(outcome)
        assert outcome.calls > 100


def commands_with(words: str) -> list[str]:
    """Command lines of all processes with these words."""
    reported = subprocess.run(["ps", "-axww", "-o", "command"], capture_output=True, text=True, check=True)
    return [line for line in reported.stdout.splitlines() if words in line]


@pytest.fixture
def directory() -> Iterator[Path]:
    """A directory with a name short enough for paths of sockets."""
    with tempfile.TemporaryDirectory(prefix="ended-") as name:
        yield Path(name)


def heeds_hangups() -> None:
    """Restores SIGHUP also where the tests themselves run under `nohup`, which every child process would inherit."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.mark.parametrize("ignoring", ["", "trap '' INT; "])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_run_that_is_ended_leaves_no_server_behind(
    directory: Path, number: signal.Signals, ignoring: str
) -> None:
    """Also when a script has started it in the background, where shells make it ignore Ctrl-C."""
    command = f"{ignoring}exec {sys.executable} -m backend.cli run scenarios/faults/calm.yaml --on processes"
    run = subprocess.Popen(
        ["sh", "-c", command],
        cwd=REPOSITORY,
        env={**os.environ, "TMPDIR": str(directory)},
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heeds_hangups,
    )
    servers = f"nodes server --config {directory}"
    until(lambda: run.poll() is not None or len(commands_with(servers)) >= 3)
    run.send_signal(number)
    _, reported = run.communicate(timeout=slower(30))
    assert run.returncode == 130 and "Traceback" not in reported, reported
    assert not commands_with(str(directory)) and not list(directory.iterdir())
