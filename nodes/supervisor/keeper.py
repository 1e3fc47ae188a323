"""The process of a supervisor: spawned, signalled, its end reported."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path

from nodes.real.child_output import last_words, ready_line
from nodes.real.clock import monotonic_ns
from nodes.states import ProcessState
from nodes.supervisor.reaper import Reaper

LOG_BYTES = 2 << 20
POLL_S = 0.01


class NotReady(Exception):
    """The process did not start; one line gives the reason."""


class Keeper:
    """`on_change` is called whenever the state changes; `ended` is the reason why the process ended, unless it was stopped."""

    def __init__(self, logs: Path, reaper: Reaper, on_change: Callable[[], None]):
        self.pid = 0
        self.began_ns = 0
        self.paused = False
        self.ended = ""
        self.starts = 0
        self.output = logs / "process.out"
        self.errors = logs / "process.err"
        self._reaper = reaper
        self._on_change = on_change
        self._mark = 0
        self._wanted_dead = False
        logs.mkdir(parents=True, exist_ok=True)

    @property
    def state(self) -> ProcessState:
        return "stopped" if not self.pid else "paused" if self.paused else "running"

    def spawn(self, command: list[str]) -> None:
        """Raises OSError when there is no such program."""
        if self.errors.exists() and self.errors.stat().st_size > LOG_BYTES:
            self.errors.rename(self.errors.with_suffix(".old"))
        flags = os.O_WRONLY | os.O_CREAT
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(self.output), flags | os.O_TRUNC, 0o600),
            (os.POSIX_SPAWN_OPEN, 2, str(self.errors), flags | os.O_APPEND, 0o600),
        ]
        self.output.write_bytes(b"")
        self._mark = self.errors.stat().st_size if self.errors.exists() else 0
        self.pid = os.posix_spawnp(command[0], command, os.environ, file_actions=actions, setsid=True)
        self.began_ns = monotonic_ns()
        self._reaper.watch(self.pid, self._over)
        self.paused, self.ended, self._wanted_dead = False, "", False
        self.starts += 1
        self._on_change()

    async def ready(self, timeout_s: float) -> None:
        """Waits for its ready line. Raises NotReady."""
        deadline = asyncio.get_running_loop().time() + timeout_s
        while ready_line(self.output) is None:
            if not self.pid:
                raise NotReady(self.ended or "it was ended while it started")
            if asyncio.get_running_loop().time() > deadline:
                raise NotReady(f"it is not ready {timeout_s:g} s after its start")
            await asyncio.sleep(POLL_S)

    def signal(self, number: int) -> None:
        if self.pid:
            os.kill(self.pid, number)

    def pause(self) -> None:
        self.signal(signal.SIGSTOP)
        self.paused = bool(self.pid)
        self._on_change()

    def resume(self) -> None:
        self.signal(signal.SIGCONT)
        self.paused = False
        self._on_change()

    async def kill(self) -> None:
        self._wanted_dead = True
        self.signal(signal.SIGKILL)
        await self._gone(5.0)

    async def stop(self, patience_s: float) -> None:
        """SIGTERM, then SIGKILL to one that does not end in time."""
        self._wanted_dead = True
        self.signal(signal.SIGTERM)
        self.signal(signal.SIGCONT)
        if not await self._gone(patience_s):
            await self.kill()

    async def _gone(self, timeout_s: float) -> bool:
        deadline = asyncio.get_running_loop().time() + timeout_s
        while self.pid:
            if asyncio.get_running_loop().time() > deadline:
                return False
            await asyncio.sleep(POLL_S)
        return True

    def _over(self, code: int) -> None:
        self.pid, self.paused = 0, False
        if not self._wanted_dead:
            how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
            words = last_words(self.errors, self._mark)
            self.ended = f"{how}: {words}" if words else how
        self._on_change()
