"""Runs of scenarios for the page, bounded in number and time."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

import msgspec

from backend.errors import Impossible, Malformed, NotThere
from backend.scenario_runs.plan import ScenarioPlan, checked
from backend.scenario_runs.process import RunProcess
from backend.scenario_runs.worker import FabricOfPage, ScenarioTask
from backend.scenarios.runner import ScenarioOutcome, StepResult

AT_ONCE: dict[FabricOfPage, int] = {"simulated": 2, "processes": 1}
LIMIT_S: dict[FabricOfPage, float] = {"simulated": 180.0, "processes": 900.0}
KEPT = 8

RunState = Literal["running", "done", "failed", "cancelled"]


class RunWish(msgspec.Struct):
    """A text, and how it is to be run."""

    text: str
    variant: int = 0
    on: FabricOfPage = "simulated"
    protocol: str | None = None
    seed: int | None = None
    scale: float = 1.0


class ScenarioRunRow(msgspec.Struct):
    """How far a run is."""

    run: int
    name: str
    on: FabricOfPage
    protocol: str
    seed: int
    variant: int
    scale: float
    state: RunState = "running"
    at_s: float = 0.0
    """Seconds since the workload began, of virtual time on the simulator."""
    error: str = ""
    held: bool | None = None
    """Whether every expectation held; null without an outcome."""


class PageRun(ScenarioRunRow):
    """A run of a scenario for the page."""

    text: str = ""
    steps: list[StepResult] = []
    """Those that began, as they are now."""
    outcome: ScenarioOutcome | None = None


class ScenarioRuns:
    """Keeps the newest runs."""

    def __init__(self) -> None:
        self._newest = 0
        self._all: dict[int, PageRun] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}

    async def begin(self, wish: RunWish) -> PageRun:
        """Raises Malformed, TooLarge, Impossible."""
        check = await asyncio.to_thread(checked, wish.text)
        if check.plan is None:
            assert check.error is not None
            where = f"line {check.error.line}: " if check.error.line else ""
            raise Malformed(where + check.error.reason)
        task = task_of(wish, check.plan)
        under_way = sum(1 for number in self._tasks if self._all[number].on == wish.on)
        if under_way >= AT_ONCE[wish.on]:
            where = "on the simulator" if wish.on == "simulated" else "on processes"
            raise Impossible(
                f"{under_way} of {AT_ONCE[wish.on]} runs {where} are under way; cancel one or wait"
            )
        return self._begun(task, check.plan.variants[wish.variant])

    def _begun(self, task: ScenarioTask, name: str) -> PageRun:
        self._newest += 1
        number = self._newest
        run = PageRun(
            number, name, task.on, task.protocol, task.seed, task.variant, task.scale, text=task.text
        )
        self._all[number] = run
        for old in [each for each in self._all if each not in self._tasks][: max(0, len(self._all) - KEPT)]:
            del self._all[old]
        self._tasks[number] = asyncio.create_task(follow(run, task), name=f"scenario {number}")
        self._tasks[number].add_done_callback(lambda _: self._over(run))
        return run

    def _over(self, run: PageRun) -> None:
        """Also after a cancellation before the first step of the task."""
        self._tasks.pop(run.run, None)
        if run.state == "running":
            run.state = "cancelled"

    def all(self) -> list[PageRun]:
        """The newest first."""
        return [self._all[number] for number in sorted(self._all, reverse=True)]

    def read(self, number: int) -> PageRun:
        """Raises NotThere."""
        run = self._all.get(number)
        if run is None:
            raise NotThere(f"run {number} is not kept; the newest is {self._newest or 'none'}")
        return run

    async def cancel(self, number: int) -> PageRun:
        """Ends a run that is under way, and its processes. Raises NotThere."""
        run = self.read(number)
        if number in self._tasks:
            await self._end([self._tasks[number]])
        return run

    async def stop(self) -> None:
        """Ends the processes of all runs."""
        await self._end(list(self._tasks.values()))

    async def _end(self, tasks: list[asyncio.Task[None]]) -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def task_of(wish: RunWish, plan: ScenarioPlan) -> ScenarioTask:
    """Raises Malformed for what cannot run."""
    if plan.trial:
        raise Malformed("a trial of the explorer runs by ./cloverlab run, not here")
    if wish.variant >= len(plan.variants):
        raise Malformed(f"variant {wish.variant} of {len(plan.variants)}, counted from 0")
    if wish.on not in plan.fabrics:
        raise Malformed(
            f"it cannot run on {wish.on}: it has a step that only {' and '.join(plan.fabrics)} can do"
        )
    family = wish.protocol or plan.protocol
    refused = {each.name: each.refused for each in plan.families}.get(family)
    if refused is None or refused:
        raise Malformed(f"{family} cannot run it: {refused or 'there is no such family'}")
    seed = plan.seed if wish.seed is None else wish.seed
    scale = 1.0 if wish.on == "simulated" else wish.scale
    return ScenarioTask(wish.text, wish.variant, wish.on, family, seed, scale)


async def follow(run: PageRun, task: ScenarioTask) -> None:
    run.state, run.error = await ending(run, task)


async def ending(run: PageRun, task: ScenarioTask) -> tuple[RunState, str]:
    """Follows a run to its end: its last state, and why it failed."""
    error = ""

    def on_report(reported: dict[str, Any]) -> None:
        nonlocal error
        error = taken(run, reported) or error

    try:
        async with asyncio.timeout(LIMIT_S[task.on]):
            await RunProcess(task, on_report).run()
    except TimeoutError:
        return "failed", f"not over after {LIMIT_S[task.on]:g} s"
    except asyncio.CancelledError:
        return "cancelled", ""
    except (OSError, ValueError) as failure:
        return "failed", f"its process or its result is out of bounds: {failure}"
    if error or run.outcome is None:
        return "failed", error or "its process ended without a result"
    return "done", ""


def taken(run: PageRun, reported: dict[str, Any]) -> str:
    """Takes a line of the worker; returns its error."""
    run.at_s = reported.get("at_s", run.at_s)
    if "step" in reported:
        step = msgspec.convert(reported["step"], StepResult)
        run.steps = [*(each for each in run.steps if each.number != step.number), step]
    if "outcome" in reported:
        run.outcome = msgspec.convert(reported["outcome"], ScenarioOutcome)
        run.held = run.outcome.held
    return str(reported.get("error", ""))
