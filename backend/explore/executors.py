"""Executors of trials on this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Protocol

from backend.errors import LabError
from backend.explore.work import work

Work = Callable[[bytes], bytes]
"""Runs one job."""


class WorkersLost(LabError):
    """No worker is left that could run a trial."""


class Executor(Protocol):
    @property
    def width(self) -> int:
        """Number of jobs that are worth having under way at once."""

    def submit(self, job: bytes) -> None: ...

    def results(self, timeout_s: float) -> Iterator[bytes]:
        """Results that have arrived. Waits at most `timeout_s` for the first one. Raises WorkersLost."""

    def close(self) -> None:
        """Ends the jobs under way."""


class ProcessExecutor:
    """Worker processes on this machine. A killed worker loses its own trial; the trials of the others run again."""

    def __init__(self, jobs: int, work: Work = work):
        self._jobs = jobs
        self._work = work
        self.width = 2 * jobs
        self._open: dict[Future[bytes], bytes] = {}
        self._pool = self._new()
        self._broken = 0

    def _new(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self._jobs, mp_context=multiprocessing.get_context("fork"), initializer=begin_worker
        )

    def submit(self, job: bytes) -> None:
        self._open[self._pool.submit(self._work, job)] = job

    @property
    def pids(self) -> list[int]:
        """Process ids of the present workers."""
        return list(self._pool._processes or {})

    def results(self, timeout_s: float) -> Iterator[bytes]:
        done, _ = wait(self._open, timeout_s, FIRST_COMPLETED)
        lost = []
        for future in done:
            job = self._open.pop(future)
            try:
                yield future.result()
            except BrokenProcessPool:
                lost.append(job)
        if lost:
            self._begin_anew(lost)

    def _begin_anew(self, lost: list[bytes]) -> None:
        self._broken += 1
        if self._broken > 3:
            raise WorkersLost("worker processes were killed again and again: is there enough memory?")
        lost += self._open.values()
        self._open.clear()
        self._pool = self._new()
        for job in lost:
            self.submit(job)

    def close(self) -> None:
        for process in list((self._pool._processes or {}).values()):
            process.terminate()
        self._pool.shutdown(wait=True, cancel_futures=True)


def begin_worker() -> None:
    leave_signals()
    threading.Thread(target=end_with_parent, daemon=True).start()


def end_with_parent() -> None:
    """Ends this process when the one that searches is gone: the pool's own pipes stay open in the other workers."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def leave_signals() -> None:
    """Leaves Ctrl-C to the process that searches, which ends its workers by SIGTERM."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


class Here:
    """Runs trials in this process, one after the other, when each fills the machine with processes of its own."""

    width = 1

    def __init__(self, work: Work = work) -> None:
        self._work = work
        self._waiting: list[bytes] = []

    def submit(self, job: bytes) -> None:
        self._waiting.append(job)

    def results(self, timeout_s: float) -> Iterator[bytes]:
        while self._waiting:
            yield self._work(self._waiting.pop(0))

    def close(self) -> None:
        self._waiting.clear()
