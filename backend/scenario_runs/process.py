"""The process of a run, with the cluster that it starts: nothing of them is left when the run is over."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from backend.fabrics.children import Roster
from backend.fabrics.home import remove_unused, socket_place
from backend.repository import REPOSITORY
from backend.scenario_runs.worker import ScenarioTask

LINE_BYTES = 64 << 20
"""Longest line of a worker: the outcome of a long run."""
GRACE_S = 10.0
"""Time in which a worker ends its cluster by itself."""


class RunProcess:
    """Runs one task; `on_report` receives each line of the worker."""

    def __init__(self, task: ScenarioTask, on_report: Callable[[dict[str, Any]], None]):
        self._task = task
        self._on_report = on_report
        self._directory: Path | None = None

    async def run(self) -> None:
        """Returns, or is cancelled, once the process and its cluster are gone. Raises OSError when the process cannot be started, ValueError for a
        result that is too large."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "backend.scenario_runs.worker", cwd=REPOSITORY, limit=LINE_BYTES, start_new_session=True,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(msgspec.json.encode(self._task) + b"\n")
            while line := await process.stdout.readline():
                self._take(msgspec.json.decode(line))
        finally:
            process.stdin.close()
            await asyncio.shield(asyncio.ensure_future(self._end(process, process.stdout)))

    def _take(self, reported: dict[str, Any]) -> None:
        if "directory" in reported:
            self._directory = Path(reported["directory"])
        else:
            self._on_report(reported)

    async def _end(self, process: asyncio.subprocess.Process, output: asyncio.StreamReader) -> None:
        """Waits until the worker has ended its cluster; after a while kills it, and ends what it left."""
        with contextlib.suppress(TimeoutError, ValueError):
            async with asyncio.timeout(GRACE_S if self._directory is not None else 0.0):
                while await output.read(1 << 16):
                    pass
                await process.wait()
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        if self._directory is not None and self._directory.is_dir():
            await remove(self._directory)


async def remove(directory: Path) -> None:
    """Ends the processes of a cluster whose worker was killed, and removes its files."""
    await asyncio.gather(*(child.stop() for child in Roster(directory).leftovers().values()))
    with contextlib.suppress(OSError):
        remove_unused(socket_place(directory))
    shutil.rmtree(directory, ignore_errors=True)
