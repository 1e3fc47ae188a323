"""Process 1 of a container waits for every child, its own and the orphans it inherits."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable


class Reaper:
    """Must be made inside the running loop; from then on it handles SIGCHLD."""

    def __init__(self) -> None:
        self._ended: dict[int, Callable[[int], None]] = {}
        asyncio.get_running_loop().add_signal_handler(signal.SIGCHLD, self._reap)

    def watch(self, pid: int, ended: Callable[[int], None]) -> None:
        """Calls `ended(exit code)` once; negative for a signal. It must be called in the step that made the process."""
        self._ended[pid] = ended

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            ended = self._ended.pop(pid, None)
            if ended is not None:
                ended(os.waitstatus_to_exitcode(status))

    async def run(self, command: list[str], given: str) -> tuple[int, str]:
        """Exit code and standard error of a small tool that is given a text. Raises OSError when there is no such program."""
        (in_read, in_write), (err_read, err_write) = os.pipe(), os.pipe()
        code: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        try:
            actions = [
                (os.POSIX_SPAWN_DUP2, in_read, 0),
                (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
                (os.POSIX_SPAWN_DUP2, err_write, 2),
            ]
            self.watch(os.posix_spawn(command[0], command, os.environ, file_actions=actions), code.set_result)
            os.write(in_write, given.encode())
        finally:
            for end in (in_read, in_write, err_write):
                os.close(end)
        try:
            return await code, os.read(err_read, 8192).decode("utf-8", "replace")
        finally:
            os.close(err_read)
