"""Runs of scenarios that the page starts on processes: nothing is left of them, however they end."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest

from backend.errors import Impossible
from backend.fabrics.children import Roster
from backend.repository import REPOSITORY
from backend.scenario_runs.service import PageRun, RunWish, ScenarioRuns
from backend.scenario_runs.worker import ScenarioTask
from tests.slowness import slower

HEAD = (
    "name: a\nteaches: b\ncluster: {session_timeout: 1s, standbys: 2}\nworkload: {clients: 2, rate: 20/s}\n"
)
SHORT = (
    HEAD
    + """steps:
  - {at: 1s, fault: crash, target: active of g1}
  - {expect: {serving: true}, within: 20s}
end: {at: 8s}
expect: {invariants: all}
"""
)
LONG = HEAD + "end: {at: 1000m}\n"
LONG_TASK = ScenarioTask(LONG, 0, "processes", "mams", 1, 1.0)


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(slower(60)):
        while not true():
            await asyncio.sleep(0.05)


def running(word: str) -> list[int]:
    """Processes with this word in their arguments."""
    return [pid for pid in pids() if word.encode() in command_of(pid)]


def pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def parent_of(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def test_a_run_on_processes_ticks_off_and_its_times_are_scaled() -> None:
    async def run() -> PageRun:
        runs = ScenarioRuns()
        begun = await runs.begin(RunWish(SHORT, on="processes", scale=0.5))
        with pytest.raises(Impossible, match="on processes"):
            await runs.begin(RunWish(SHORT, on="processes"))
        await until(lambda: begun.state != "running")
        return begun

    done = asyncio.run(run())
    assert (done.state, done.error, [step.state for step in done.steps]) == ("done", "", ["done", "done"])
    assert done.outcome is not None and (done.outcome.on, done.outcome.scale) == ("processes", 0.5)
    assert done.held and done.outcome.calls > 20


async def cancelled(runs: ScenarioRuns, run: PageRun) -> None:
    assert (await runs.cancel(run.run)).state == "cancelled"


async def killed(runs: ScenarioRuns, run: PageRun) -> None:
    """The worker ends without a chance to end its cluster."""
    [worker] = [pid for pid in running("backend.scenario_runs.worker") if parent_of(pid) == os.getpid()]
    os.kill(worker, signal.SIGKILL)
    await until(lambda: run.state != "running")
    assert (run.state, run.error) == ("failed", "its process ended without a result")


@pytest.mark.parametrize("ended", [cancelled, killed])
def test_no_process_is_left(
    ended: Callable[[ScenarioRuns, PageRun], Awaitable[None]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    async def run() -> None:
        runs = ScenarioRuns()
        begun = await runs.begin(RunWish(LONG, on="processes"))
        await until(lambda: begun.at_s > 1 or begun.state != "running")
        assert (begun.state, begun.error) == ("running", "")
        assert len(running(str(tmp_path))) >= 4
        await ended(runs, begun)
        assert running(str(tmp_path)) == [] and list(tmp_path.iterdir()) == []

    asyncio.run(run())


def test_a_worker_ends_its_cluster_when_its_owner_is_gone() -> None:
    worker = subprocess.Popen(
        [sys.executable, "-m", "backend.scenario_runs.worker"],
        cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert worker.stdin is not None and worker.stdout is not None
    worker.stdin.write(msgspec.json.encode(LONG_TASK) + b"\n")
    worker.stdin.flush()
    directory = Path(msgspec.json.decode(worker.stdout.readline())["directory"])
    assert b"at_s" in worker.stdout.readline()
    children = Roster(directory).leftovers()
    assert len(children) >= 4
    worker.stdin.close()
    assert worker.wait(slower(30)) == 1
    assert [name for name, child in children.items() if child.running] == [] and not directory.exists()
