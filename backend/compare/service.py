"""One comparison at a time: each configuration in a process of its own, on the simulator, two at once."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

import msgspec

from backend.compare.measures import Measured
from backend.compare.worker import ComparisonTask, on_another
from backend.errors import Impossible, LabError, NotThere
from backend.repository import REPOSITORY
from backend.scenarios.model import ClusterPart
from backend.scenarios.reader import read
from backend.scenarios.runner import cluster_config
from nodes.families import FAMILIES

SCENARIOS = REPOSITORY / "scenarios"
AT_ONCE = 2
LIMIT_S = 300.0
LINE_BYTES = 8 * 1024 * 1024


class Compared(msgspec.Struct):
    cluster: dict[str, Any]
    state: Literal["waiting", "running", "done", "failed", "cancelled"] = "waiting"
    at_s: float = 0.0
    """Virtual seconds run so far."""
    error: str = ""
    measured: Measured | None = None


class Comparison(msgspec.Struct):
    comparison: int
    scenario: str
    seed: int
    configurations: list[Compared]

    @property
    def over(self) -> bool:
        return all(each.state not in ("waiting", "running") for each in self.configurations)


class Comparisons:
    """Keeps the newest comparison."""

    def __init__(self) -> None:
        self._number = 0
        self._newest: Comparison | None = None
        self._running: asyncio.Task[None] | None = None

    def begin(self, scenario: str, seed: int, changes: list[dict[str, Any]]) -> Comparison:
        """Raises NotThere, Malformed, Impossible."""
        if self._newest is not None and not self._newest.over:
            raise Impossible(f"comparison {self._number} is not over; cancel it or wait")
        path = scenario_path(scenario)
        of_file = read(path)[0]
        for change in changes:
            cluster_config(on_another(of_file, change).cluster, 1.0)
        self._number += 1
        self._newest = Comparison(self._number, scenario, seed, [Compared(change) for change in changes])
        self._running = asyncio.create_task(self._run(self._newest, path))
        return self._newest

    def read(self, number: int) -> Comparison:
        """Raises NotThere."""
        if self._newest is None or self._newest.comparison != number:
            raise NotThere(f"comparison {number} is not kept; the newest is {self._number or 'none'}")
        return self._newest

    async def cancel(self, number: int) -> Comparison:
        """Raises NotThere."""
        comparison = self.read(number)
        await self.stop()
        return comparison

    async def stop(self) -> None:
        """Ends the processes of a comparison."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    async def _run(self, comparison: Comparison, path: Path) -> None:
        room = asyncio.Semaphore(AT_ONCE)
        async with asyncio.TaskGroup() as group:
            for each in comparison.configurations:
                group.create_task(self._run_one(each, comparison.seed, path, room))

    async def _run_one(self, one: Compared, seed: int, path: Path, room: asyncio.Semaphore) -> None:
        try:
            async with room:
                one.state = "running"
                async with asyncio.timeout(LIMIT_S):
                    await follow(one, ComparisonTask(str(path), seed, one.cluster))
        except TimeoutError:
            one.error = f"not over after {LIMIT_S:g} s"
        except asyncio.CancelledError:
            one.state = "cancelled"
            raise
        one.state = "done" if one.measured is not None else "failed"


async def follow(one: Compared, task: ComparisonTask) -> None:
    """Runs the worker and records its reports; the process is gone when this returns."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "backend.compare.worker", cwd=REPOSITORY, limit=LINE_BYTES,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    try:
        process.stdin.write(msgspec.json.encode(task))
        process.stdin.close()
        while line := await process.stdout.readline():
            reported = msgspec.json.decode(line, type=dict[str, Any])
            one.at_s = reported.get("at_s", one.at_s)
            one.error = reported.get("error", one.error)
            if "measured" in reported:
                one.measured = msgspec.convert(reported["measured"], Measured)
        if one.measured is None and not one.error:
            one.error = last_line(await process.stderr.read())
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def last_line(data: bytes) -> str:
    lines = data.decode(errors="replace").strip().splitlines()
    return f"the simulator ended: {lines[-1][:200]}" if lines else "the simulator ended without output"


def scenario_path(name: str) -> Path:
    """Raises NotThere."""
    path = {each.relative_to(SCENARIOS).with_suffix("").as_posix(): each for each in files()}.get(name)
    if path is None:
        raise NotThere(f"no scenario is called {name[:60]!r}; GET /api/compare/choices lists them")
    return path


def files() -> list[Path]:
    return sorted(SCENARIOS.rglob("*.yaml"))


@lru_cache(maxsize=1024)
def described(path: Path, changed_ns: int) -> dict[str, Any] | None:
    """Description of a scenario for the list of choices; None for an invalid file."""
    try:
        scenario = read(path)[0]
    except LabError:
        return None
    return {
        "file": path.relative_to(SCENARIOS).with_suffix("").as_posix(),
        "name": scenario.name,
        "teaches": scenario.teaches,
        "paper": scenario.paper,
        "cluster": msgspec.to_builtins(scenario.cluster),
    }


def choices() -> dict[str, Any]:
    """Families, mechanisms and scenarios."""
    scenarios = [described(path, path.stat().st_mtime_ns) for path in files()]
    kinds = get_type_hints(ClusterPart)
    return {
        "families": [
            {
                "name": name,
                **{key: getattr(family, key) for key in ("says", "groups_max", "standbys_max", "holes")},
            }
            for name, family in FAMILIES.items()
        ],
        "placements": list(get_args(kinds["placement"])),
        "cross_groups": list(get_args(kinds["cross_group"])),
        "scenarios": [each for each in scenarios if each is not None],
    }
