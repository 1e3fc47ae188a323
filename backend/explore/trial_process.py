"""Trials on a Dask worker. Each thread of the worker has a process of its own: a trial is ended by a signal and traces its code, and a thread
supports neither."""

from __future__ import annotations

import subprocess
import sys
import threading
from multiprocessing import Pipe
from multiprocessing.connection import Connection

from backend.code_digest import ROOT, code_digest
from backend.errors import Impossible
from backend.explore.executors import leave_signals
from backend.explore.work import work

IDLE_S = 60
"""Idle time after which a process ends, since no message reports the end of a search."""
_own = threading.local()


class Apart:
    """A process that runs one job after the other. It ends with its worker, because its pipe closes then."""

    def __init__(self) -> None:
        self._pipe, theirs = Pipe()
        command = [sys.executable, "-m", "backend.explore.trial_process", str(theirs.fileno())]
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
    """This thread's process for the code of that digest. Raises Impossible, EOFError."""
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
    """Runs `work` in this thread's process. A process that has ended, idle or killed, is replaced once."""
    try:
        return ready(digest).work(job)
    except (OSError, EOFError):
        forget()
    try:
        return ready(digest).work(job)
    except (OSError, EOFError):
        forget()
        raise Impossible("the process of a trial was killed twice: is there enough memory?") from None


def main(pipe: Connection) -> None:
    leave_signals()
    pipe.send_bytes(code_digest().encode())
    try:
        while pipe.poll(IDLE_S):
            pipe.send_bytes(work(pipe.recv_bytes()))
    except (EOFError, BrokenPipeError):
        """The worker has ended."""


if __name__ == "__main__":
    main(Connection(int(sys.argv[1])))
