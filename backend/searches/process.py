"""The process of a search, in a group of its own with the workers that it starts: none of them outlives its owner."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import msgspec

from backend.repository import REPOSITORY
from backend.searches.reports import Report, SearchEnd, Task

LINE_BYTES = 8 * 1024 * 1024
GRACE_S = 10.0
"""Time in which a process that is asked to end says what it has found."""
KILL_S = 10.0
"""Longest time that is waited for the end of killed processes; one that hangs in a disk's driver may take longer."""
POLL_S = 0.005
COMMAND = (sys.executable, "-m", "backend.searches.worker")


class WorkProcess:
    """Runs one task; `on_report` receives each report. Nothing is left of it when `run` returns or is cancelled."""

    def __init__(self, task: Task, on_report: Callable[[Report], None]):
        self._task = task
        self._on_report = on_report
        self._process: asyncio.subprocess.Process | None = None
        self._withdrawn = False

    async def run(self) -> str:
        """Returns why the process ended without saying so itself; empty when it did."""
        with tempfile.TemporaryFile() as errors:
            process = self._process = await asyncio.create_subprocess_exec(
                *COMMAND, cwd=REPOSITORY, limit=LINE_BYTES, start_new_session=True,
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=errors,
            )  # fmt: skip
            try:
                assert process.stdin is not None and process.stdout is not None
                process.stdin.write(msgspec.json.encode(self._task) + b"\n")
                if self._withdrawn:
                    self.withdraw()
                over = await self._follow(process.stdout)
            finally:
                await end_group(process)
            return "" if over else f"the search's process ended: {reason(process.returncode, errors)}"

    async def _follow(self, output: asyncio.StreamReader) -> bool:
        """Whether the process said that it is over."""
        over = False
        while line := await output.readline():
            report = msgspec.json.decode(line, type=Report)
            self._on_report(report)
            over = over or isinstance(report, SearchEnd)
        return over

    def withdraw(self) -> None:
        """Asks the process to end, which then says what it has found."""
        self._withdrawn = True
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()


async def end_group(leader: asyncio.subprocess.Process) -> None:
    """Kills a process and the members of its group, and returns when all of them are gone: a signal takes effect later than it is sent."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader.pid, signal.SIGKILL)
    await leader.wait()
    until_s = time.monotonic() + KILL_S
    while group_lives(leader.pid) and time.monotonic() < until_s:
        await asyncio.sleep(POLL_S)


def group_lives(group: int) -> bool:
    """Whether a process of the group has not ended. Zombies that wait for process 1 count only where there is no /proc."""
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return not os.path.isdir("/proc/self") or any(
        of == group and state not in "ZX" for state, of in states_and_groups()
    )


def states_and_groups() -> Iterator[tuple[str, int]]:
    """State and group of every process."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, group = path.read_text().rpartition(") ")[2].split()[:3]
            yield state, int(group)


def reason(exit_code: int | None, errors: IO[bytes]) -> str:
    """Why a process ended: its last words, or else the signal."""
    errors.seek(0)
    lines = errors.read().decode(errors="replace").strip().splitlines()
    if lines:
        return lines[-1][:200]
    return (
        f"by {signal.Signals(-exit_code).name}"
        if exit_code is not None and exit_code < 0
        else "it said nothing"
    )
