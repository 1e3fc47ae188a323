"""Trials on a Dask worker: each of its threads has a process of its own for them. A trial is ended by a signal and traces its code,
and a thread can do neither."""

from __future__ import annotations

import subprocess
import sys
import threading
from multiprocessing import Pipe
from multiprocessing.connection import Connection

from backend.errors import Impossible
from backend.explore.executors import leave_signals
from backend.explore.version import ROOT, code_digest
from backend.explore.work import work

IDLE_S = 60
"""A process that was given nothing for so long ends: nobody else knows when a search is over."""
_own = threading.local()


class Apart:
    """A process that runs one job after the other. It ends with its worker, for then its pipe does."""

    def __init__(self) -> None:
        self._pipe, theirs = Pipe()
        command = [sys.executable, "-m", "backend.explore.apart", str(theirs.fileno())]
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()]
        )
        theirs.close()
        self.digest = self._pipe.recv_bytes().decode()

    def work(self, job: bytes) -> bytes:
        self._pipe.send_bytes(job)
        return self._pipe.recv_bytes()

    def end(self) -> None:
        self._pipe.close()
        self._process.kill()
        self._process.wait()


def ready(digest: str) -> Apart:
    """This thread's process, which runs the code of that digest. Raises Impossible, EOFError."""
    apart: Apart | None = getattr(_own, "apart", None)
    if apart is None or apart.digest != digest:
        forget()
        apart = _own.apart = Apart()
    if apart.digest != digest:
        raise Impossible("it has another version of this project")
    return apart


def forget() -> None:
    apart: Apart | None = getattr(_own, "apart", None)
    if apart is not None:
        apart.end()
        _own.apart = None


def work_apart(digest: str, job: bytes) -> bytes:
    """As `work`. A process that has ended meanwhile, idle or killed, is replaced once."""
    try:
        return ready(digest).work(job)
    except (OSError, EOFError):
        forget()
    try:
        return ready(digest).work(job)
    except (OSError, EOFError):
        forget()
        raise Impossible("the process of a trial was killed twice: is there memory enough?") from None


def main(pipe: Connection) -> None:
    leave_signals()
    pipe.send_bytes(code_digest().encode())
    try:
        while pipe.poll(IDLE_S):
            pipe.send_bytes(work(pipe.recv_bytes()))
    except (EOFError, BrokenPipeError):
        """The worker has gone."""


if __name__ == "__main__":
    main(Connection(int(sys.argv[1])))
