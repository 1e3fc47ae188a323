"""Runs a submission in processes of its own and reads their results. The processes limit themselves (nodes/grading/limits.py)."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import msgspec

from backend.repository import REPOSITORY
from nodes.grading.limits import SEED_CPU_S
from nodes.grading.refusal import Passed, Result, SubmissionRefused, TrialFailed, TrialStarted

SILENCE_S = 300.0
"""Longest real time without a result of a process. The processor time of a trial has a smaller limit of its own."""
LINE_BYTES = 1 << 20
PRINTED_BYTES = 4_096
"""Most bytes that are shown of what a submission printed."""


class Graded(msgspec.Struct):
    """The result of one submission."""

    passed: int = 0
    """Number of seeds without a violation."""
    failed: TrialFailed | None = None
    """The failing trial with the smallest seed."""
    refused: str = ""
    """Why the submission could not be judged, in one line; empty when it was."""
    printed: str = ""
    took_s: float = 0.0

    @property
    def well(self) -> bool:
        return self.failed is None and not self.refused


class GradingWorker:
    """One process. Each line of its standard output is a result."""

    def __init__(self, task: str, file: Path, seeds: range, seed_cpu_s: float, directory: str):
        arguments = [task, str(file), str(seeds.start), str(seeds[-1]), str(seeds.step), str(seed_cpu_s)]
        self.printed: IO[bytes] = tempfile.TemporaryFile(dir=directory)  # noqa: SIM115
        self.process = subprocess.Popen(
            [sys.executable, "-m", "nodes.grading.worker", *arguments],
            cwd=directory, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.printed,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.out: IO[bytes] = self.process.stdout
        os.set_blocking(self.out.fileno(), False)
        self.seed = seeds.start
        """The seed of the trial under way."""
        self.received_s = time.monotonic()
        self.ended = False
        self._rest = b""

    def results(self) -> list[Result]:
        """The results that have come; at its end, the process is `ended`."""
        data = self.out.read(LINE_BYTES)
        if data is None:
            return []
        if not data:
            self.ended = True
        self.received_s = time.monotonic()
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [msgspec.json.decode(line, type=Result) for line in lines]

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.out.close()

    def text(self) -> str:
        self.printed.seek(0)
        return self.printed.read(PRINTED_BYTES).decode(errors="replace")


def environment() -> dict[str, str]:
    """Nothing of this process's environment but what Python needs: no keys, no names of directories."""
    return {
        "PATH": os.defpath,
        "PYTHONPATH": str(REPOSITORY),
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def grade(
    task: str,
    file: Path,
    seeds: range,
    jobs: int,
    on_passed: Callable[[int], None] = lambda count: None,
    seed_cpu_s: float = SEED_CPU_S,
) -> Graded:
    """Runs the trials, each with so much processor time. Ends at the failing trial with the smallest seed, or at the first refusal."""
    began_s, graded = time.monotonic(), Graded()
    jobs = min(jobs, len(seeds))
    with tempfile.TemporaryDirectory(prefix="cloverlab-grade-") as directory:
        workers = [
            GradingWorker(task, file.absolute(), seeds[place::jobs], seed_cpu_s, directory)
            for place in range(jobs)
        ]
        try:
            while not graded.refused and not over(workers, graded):
                take(workers, graded, on_passed)
        finally:
            for worker in workers:
                worker.end()
            graded.printed = "".join(worker.text() for worker in workers)[:PRINTED_BYTES]
    graded.took_s = time.monotonic() - began_s
    return graded


def over(workers: list[GradingWorker], graded: Graded) -> bool:
    """Whether no process can report a smaller failing seed."""
    limit = graded.failed.seed if graded.failed is not None else None
    return all(worker.ended or (limit is not None and worker.seed > limit) for worker in workers)


def take(workers: list[GradingWorker], graded: Graded, on_passed: Callable[[int], None]) -> None:
    with selectors.DefaultSelector() as selector:
        for worker in workers:
            if not worker.ended:
                selector.register(worker.out, selectors.EVENT_READ, worker)
        for key, _ in selector.select(1.0):
            note(key.data, graded, on_passed)
    for worker in workers:
        if not worker.ended and time.monotonic() - worker.received_s > SILENCE_S:
            graded.refused = f"seed {worker.seed} has no result after {SILENCE_S:g} s"


def note(worker: GradingWorker, graded: Graded, on_passed: Callable[[int], None]) -> None:
    for result in worker.results():
        if isinstance(result, TrialStarted):
            worker.seed = result.seed
        elif isinstance(result, Passed):
            graded.passed += 1
            on_passed(graded.passed)
        elif isinstance(result, SubmissionRefused):
            graded.refused = graded.refused or result.line
        elif graded.failed is None or result.seed < graded.failed.seed:
            graded.failed = result
    if worker.ended and not graded.refused:
        graded.refused = reason_of(worker.process.wait(), worker)


def reason_of(code: int, worker: GradingWorker) -> str:
    """Why a process ended that reported no refusal; empty when it was done."""
    if code == 0:
        return ""
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"seed {worker.seed} was ended by the system: too much processor time or memory"
    if code < 0:
        return f"seed {worker.seed} was ended by {signal.Signals(-code).name}"
    last: Any = worker.text().strip().splitlines()[-1:] or ["no message"]
    return f"seed {worker.seed} ended with code {code}: {last[0][:300]}"
