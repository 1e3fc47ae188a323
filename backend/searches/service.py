"""One search at a time, and one shrinking of its failures, each in a process of its own at low priority."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import NamedTuple

from backend.errors import Impossible, NotThere, reason_of
from backend.searches.process import GRACE_S, WorkProcess
from backend.searches.reports import ShrinkTask
from backend.searches.search import KnownFailure, Search, on_shrink_report
from backend.searches.search_file import keep, kept_search
from backend.searches.wish import SearchWish, task_of

SHRINK_S = 60.0


class Underway(NamedTuple):
    """A process, and the task that follows it."""

    process: WorkProcess
    task: asyncio.Task[None]

    async def withdraw(self) -> None:
        """Ends it; it has some time to say what it has found."""
        self.process.withdraw()
        await asyncio.wait([self.task], timeout=GRACE_S)
        await self.kill()

    async def kill(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


class Searches:
    """Keeps the newest search and its findings, in a file from its end on."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self.newest: Search | None = kept_search(file) if file is not None else None
        self._underway: list[Underway] = []

    def begin(self, wish: SearchWish) -> Search:
        """Raises Malformed, Impossible while one runs or a failure of the last one is being shrunk."""
        task = task_of(wish)
        if self._are_underway():
            raise Impossible("a search or a shrinking runs: stop it, or wait for its end")
        search = self.newest = Search(wish, task.jobs)
        process = WorkProcess(task, search.on_report)
        self._underway = [Underway(process, asyncio.create_task(self._search(search, process)))]
        return search

    async def stop(self) -> Search:
        """Ends the search and the shrinking, and keeps their findings. Raises NotThere without a search."""
        search = self._found()
        await asyncio.gather(*(each.withdraw() for each in self._underway))
        return search

    def failure(self, number: int) -> KnownFailure:
        """Raises NotThere."""
        return self._found().failure(number)

    def shrink(self, number: int) -> Search:
        """Begins to shrink a failure, also during the search. Raises NotThere, Impossible."""
        search, known = self._found(), self.failure(number)
        if any(each.state == "shrinking" for each in search.failures.values()):
            raise Impossible("a failure is being shrunk: wait for its end, or stop it")
        if known.state == "shrunk":
            raise Impossible("nothing more can be removed from this failure")
        known.state, known.trials, known.note = "shrinking", 0, ""
        process = WorkProcess(
            ShrinkTask(known.outcome, SHRINK_S), lambda report: on_shrink_report(known, report)
        )
        self._underway.append(Underway(process, asyncio.create_task(self._shrink(search, known, process))))
        return search

    async def _search(self, search: Search, process: WorkProcess) -> None:
        try:
            await run_search(search, process)
        finally:
            self._keep(search)

    async def _shrink(self, search: Search, known: KnownFailure, process: WorkProcess) -> None:
        try:
            await run_shrinking(known, process)
        finally:
            self._keep(search)

    def _keep(self, search: Search) -> None:
        if self._file is None or search.state == "running":
            return
        try:
            keep(search, self._file)
        except OSError as error:
            search.note = (
                f"the findings are only in memory: {self._file} cannot be written: {reason_of(error)}"
            )

    def _are_underway(self) -> bool:
        return any(not each.task.done() for each in self._underway)

    def _found(self) -> Search:
        if self.newest is None:
            raise NotThere("no search was started")
        return self.newest

    async def close(self) -> None:
        """Ends the processes."""
        await asyncio.gather(*(each.kill() for each in self._underway))


async def run_search(search: Search, process: WorkProcess) -> None:
    try:
        trouble = await process.run()
    except OSError as error:
        trouble = f"cannot start the search's process: {error.strerror}"
    finally:
        if search.state == "running":
            search.state = "stopped"
    if trouble:
        search.state, search.note = "failed", trouble


async def run_shrinking(known: KnownFailure, process: WorkProcess) -> None:
    try:
        known.note = await process.run()
    except OSError as error:
        known.note = f"cannot start a process: {error.strerror}"
    finally:
        if known.state == "shrinking":
            known.state = "found"
            known.becomes(known.outcome)
