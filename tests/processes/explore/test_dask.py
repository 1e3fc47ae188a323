"""`explore --dask` on a cluster of real processes: the same outcomes as on this machine, and one line for each kind of faulty cluster."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from backend.cli import entry
from backend.code_digest import ROOT
from backend.errors import Exit
from backend.explore.campaign import Campaign, CampaignTally, Target
from backend.explore.dask_executor import Dask
from backend.explore.executors import Here, WorkersLost
from backend.explore.work import TrialJob, encode, outcome_of
from nodes.explore.plan import PlanOutcome
from tests.chosen import only_full
from tests.processes.backend.running import until
from tests.slowness import slower

START_S = slower(60)
SECONDS = slower(30)
"""Seconds within which a faulty cluster is reported."""
TARGET = Target(("single",))


def is_written(reported: Path) -> bool:
    """Whether the scheduler's file is there and whole; it appears empty."""
    try:
        return "address" in json.loads(reported.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return False


class Cluster:
    """A scheduler and workers, each a process that was started outside of this project."""

    def __init__(self, directory: Path):
        self.directory = directory
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []
        self.address = ""

    def start(self, workers: int, root: Path | None = ROOT) -> Cluster:
        reported = self.directory / "scheduler.json"
        self.scheduler = self.dask("scheduler", "--port", "0", "--scheduler-file", str(reported))
        until(lambda: is_written(reported), START_S)
        self.address = json.loads(reported.read_text())["address"]
        for _ in range(workers):
            self.add(root)
        return self

    def add(self, root: Path | None = ROOT) -> None:
        """Adds a worker with the code of a checkout, or with none."""
        options = ("--nthreads", "1", "--no-nanny", "--local-directory", str(self.directory))
        self.workers.append(self.dask("worker", self.address, *options, root=root))

    def dask(self, *words: str, root: Path | None = None) -> subprocess.Popen[bytes]:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        if root is not None:
            environment["PYTHONPATH"] = str(root)
        with (self.directory / f"{words[0]}.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", *words, "--host", "127.0.0.1", "--no-dashboard"],
                cwd=self.directory, env=environment, stdout=log, stderr=log,
            )  # fmt: skip

    def stop(self) -> None:
        for process in filter(None, [*self.workers, self.scheduler]):
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    try:
        yield made
    finally:
        made.stop()


@contextlib.contextmanager
def joined(cluster: Cluster) -> Iterator[Dask]:
    dask = Dask(cluster.address)
    try:
        yield dask
    finally:
        dask.close()


def outcomes(executor: Dask | Here, seeds: range) -> dict[int, PlanOutcome]:
    for seed in seeds:
        executor.submit(encode(TrialJob(seed, "single")))
    done: dict[int, PlanOutcome] = {}
    deadline = time.monotonic() + START_S
    while len(done) < len(seeds):
        assert time.monotonic() < deadline
        for outcome in map(outcome_of, executor.results(0.2)):
            # the covered lines also depend on this process's caches
            done[outcome.plan.seed] = replace(outcome, coverage=frozenset())
    return done


def test_the_same_seeds_give_the_same_outcomes(cluster: Cluster) -> None:
    cluster.start(2)
    until(lambda: b"Register worker" in (cluster.directory / "scheduler.log").read_bytes(), START_S)
    with joined(cluster) as dask:
        assert outcomes(dask, range(1, 7)) == outcomes(Here(), range(1, 7))


def test_a_worker_that_dies_is_replaced_by_the_other(cluster: Cluster) -> None:
    cluster.start(2)
    with joined(cluster) as dask:
        until(lambda: threads(dask) == 2, START_S)
        tally = Campaign(TARGET, dask, range(1, 13), None, half_way(cluster.workers[0].kill)).run()
    assert tally.seeds == 12 and not tally.incomplete and not tally.failures


def test_no_worker_is_left(cluster: Cluster) -> None:
    cluster.start(1)
    with joined(cluster) as dask:
        tally = Campaign(TARGET, dask, range(1, 1_000), None, half_way(cluster.workers[0].kill)).run()
    assert 3 <= tally.seeds < 20
    assert tally.lost and tally.incomplete == "the Dask cluster has no worker any more"


@pytest.mark.parametrize("number", [signal.SIGSTOP, *only_full(signal.SIGKILL, signal.SIGTERM)])
def test_the_scheduler_dies(cluster: Cluster, number: signal.Signals) -> None:
    """A frozen scheduler looks the same from outside."""
    cluster.start(1)
    assert cluster.scheduler
    scheduler = cluster.scheduler
    with joined(cluster) as dask:
        apply_fault = half_way(lambda: scheduler.send_signal(number))
        tally = Campaign(TARGET, dask, range(1, 1_000), None, apply_fault).run()
        with pytest.raises(WorkersLost):
            dask.submit(b"")
    assert 3 <= tally.seeds < 20
    assert tally.lost and tally.incomplete == "the Dask scheduler has gone"


@pytest.mark.full
def test_a_worker_that_joins_late_with_other_code_is_reported(cluster: Cluster, tmp_path: Path) -> None:
    cluster.start(1)
    with joined(cluster) as dask:
        apply_fault = half_way(lambda: cluster.add(another_version(tmp_path)))
        tally = Campaign(TARGET, dask, range(1, 1_000), START_S, apply_fault).run()
    assert tally.seeds >= 3 and tally.lost
    assert "a Dask worker could not run a trial: it has another version" in tally.incomplete


def threads(dask: Dask) -> int:
    dask._look(now=True)
    return dask.width // 2


def half_way(apply_fault: Callable[[], None]) -> Callable[[CampaignTally], None]:
    """Calls `apply_fault` once, when there are three results."""
    faults_applied = iter([apply_fault])

    def look(tally: CampaignTally) -> None:
        if tally.seeds >= 3:
            next(faults_applied, lambda: None)()

    return look


def another_version(directory: Path) -> Path:
    root = directory / "another"
    for part in ("nodes", "backend"):
        shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
    with (root / "nodes" / "units.py").open("a") as file:
        file.write("\n")
    return root


def refused(address: str, capsys: pytest.CaptureFixture[str], code: Exit = Exit.REFUSED) -> str:
    """The error line of `explore`."""
    began = time.monotonic()
    assert entry(["explore", "--protocol", "single", "--seeds", "1..3", "--dask", address]) == code
    assert time.monotonic() - began < SECONDS
    said = capsys.readouterr()
    assert said.err.count("\n") == 1 and not said.out
    return said.err


def test_workers_without_this_project_are_reported(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(cluster.start(1, None).address, capsys)
    assert "cannot run trials: No module named 'backend'; start it in a checkout of this version" in said


def test_workers_of_another_version_are_reported(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(cluster.start(1, another_version(tmp_path)).address, capsys)
    assert "cannot run trials: it has another version of this project" in said


def test_a_cluster_without_workers_is_reported(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    assert "the cluster has no worker" in refused(cluster.start(0).address, capsys)


@pytest.mark.parametrize("answer", [None, b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
def test_what_is_no_scheduler_is_reported(answer: bytes | None, capsys: pytest.CaptureFixture[str]) -> None:
    """No server at the address; a server that is silent; a server of another protocol."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        if answer is None:
            server.close()
        elif answer:
            spoken(server, answer)
        assert "no Dask scheduler answers" in refused(f"tcp://127.0.0.1:{port}", capsys)


def spoken(server: socket.socket, answer: bytes) -> None:
    import threading

    def speak() -> None:
        with contextlib.suppress(OSError):
            while True:
                server.accept()[0].sendall(answer)

    threading.Thread(target=speak, daemon=True).start()


@pytest.mark.parametrize(
    "address", ["", "nonsense", "http://host:1", "tcp://host:99999", "tcp://host", "a b:1"]
)
def test_what_is_no_address_is_reported(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "is not an address: write tcp://HOST:PORT" in refused(address, capsys, Exit.USAGE)
