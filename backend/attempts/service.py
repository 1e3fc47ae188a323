"""The attempts under way, each with a simulated cluster of its own beside the main one."""

from __future__ import annotations

import asyncio
import secrets
import time
from typing import Any

import msgspec

from backend.attempts.attempt import Attempt
from backend.errors import Impossible, LabError, NotThere, Unavailable
from backend.fleet.fleet import OF_LABS, Fleet
from backend.lab import Lab
from backend.labs import progress as store
from backend.labs.grades import LabGrade
from backend.labs.lab_run import seed_of
from backend.labs.model import Answer
from backend.labs.reader import StudentLab, lab_of
from backend.scenarios.runner import cluster_config, workload_config
from backend.simulated.fabric import SimulatedFabric
from nodes.config import SECOND

ATTEMPTS_MAX = 12
IDLE_S = 900.0
"""An attempt that nobody looked at for so long makes room for a new one."""
SETTLES_S = 20.0
POLL_S = 0.05
WAITS = "predict first: faults are possible when all questions of this lab are answered"
OVER = "the run of this lab is over: start the lab again"


class RunningAttempt(msgspec.Struct):
    """An attempt, its cluster, and when it was last asked for."""

    attempt: Attempt
    cluster: Lab
    asked_s: float
    changing: asyncio.Lock
    trouble: str = ""


class Attempts:
    """Kept in memory; a control plane that starts again begins without any, and removes their clusters."""

    def __init__(self, fleet: Fleet):
        self._fleet = fleet
        self._all: dict[str, RunningAttempt] = {}
        self._changing = asyncio.Lock()

    async def start(self, lab_name: str, student: str) -> dict[str, Any]:
        """Begins an attempt, in the place of an earlier one of this student at this lab. Raises LabError."""
        lab = lab_of(lab_name, student)
        store.file_of(lab.key, student)
        async with self._changing:
            for name in self._superseded(lab, student):
                await self._end(name)
            if len(self._all) >= ATTEMPTS_MAX:
                raise Impossible(f"{ATTEMPTS_MAX} attempts are under way: end one, or wait for a free one")
            name = f"{OF_LABS}{secrets.token_hex(4)}"
            config = msgspec.structs.replace(cluster_config(lab.file.cluster, 1.0), cluster=f"clover-{name}")
            attempt = Attempt(name, lab, student, config)
            cluster = await self._fleet.create_exactly(
                name, config, seed_of(lab.key, student), attempt.on_events
            )
            cluster.no_faults = WAITS
            self._all[name] = RunningAttempt(attempt, cluster, time.monotonic(), asyncio.Lock())
        return self.view(name)

    def _superseded(self, lab: StudentLab, student: str) -> list[str]:
        """The student's earlier attempt at the lab and, when there is no room, the one that was idle for longest."""
        who = student.strip().lower()
        found = [
            name
            for name, each in self._all.items()
            if self._fleet.find(name) is None
            or (each.attempt.lab.key == lab.key and each.attempt.progress.student.strip().lower() == who)
        ]
        left = [name for name in self._all if name not in found]
        if len(left) >= ATTEMPTS_MAX:
            oldest = min(left, key=lambda name: self._all[name].asked_s)
            if time.monotonic() - self._all[oldest].asked_s > IDLE_S:
                found.append(oldest)
        return found

    def listed(self) -> list[dict[str, Any]]:
        return [self._shown(each) for name, each in self._all.items() if self._fleet.find(name) is not None]

    def view(self, name: str) -> dict[str, Any]:
        """Raises NotThere."""
        running = self._found(name)
        running.asked_s = time.monotonic()
        if running.attempt.grade is not None and running.cluster.no_faults != OVER:
            running.cluster.no_faults = OVER
            running.trouble = kept(running.attempt.grade)
        return self._shown(running)

    def _found(self, name: str) -> RunningAttempt:
        """Raises NotThere for an attempt that has ended."""
        running = self._all.get(name)
        if running is None or self._fleet.find(name) is not running.cluster:
            raise NotThere(f"no attempt is called {name[:40]!r}: start the lab again")
        return running

    def _shown(self, running: RunningAttempt) -> dict[str, Any]:
        attempt, progress = running.attempt, running.attempt.progress
        now_ns = min(running.cluster.fabric.now_ns, attempt.ends_ns)
        steps, grade = attempt.steps(now_ns), attempt.grade
        return {
            "name": attempt.name,
            "lab": attempt.lab.key,
            "student": progress.student,
            "phase": attempt.phase,
            "passed": grade is not None and grade.passed,
            "run_s": (now_ns - attempt.began_ns) / SECOND if attempt.began_ns else 0.0,
            "steps": [msgspec.structs.asdict(step) for step in steps],
            "lost": grade.lost if grade is not None else [],
            "trouble": running.trouble or running.cluster.fabric.trouble,
        }

    async def answer(self, name: str, answers: dict[str, Answer]) -> dict[str, Any]:
        """Takes the predictions and begins the run: the workload starts, and faults are possible. Raises LabError."""
        running = self._found(name)
        async with running.changing:
            attempt, fabric = running.attempt, running.cluster.fabric
            attempt.answer(answers)
            await settled(running.cluster)
            self._found(name)
            attempt.begin(fabric.now_ns)
            await fabric.replace_client(workload_config(attempt.lab.file.workload, 1.0))
            running.cluster.no_faults = ""
        return self.view(name)

    def hint(self, name: str, step: str) -> dict[str, Any]:
        """Raises NotThere, Impossible."""
        self._found(name).attempt.hint(step)
        return self.view(name)

    async def finish(self, name: str) -> dict[str, Any]:
        """Ends the run: the clock stops, and the run is graded. Raises NotThere, Impossible."""
        running = self._found(name)
        async with running.changing:
            self._found(name)
            running.attempt.check_begun()
            fabric = running.cluster.fabric
            assert isinstance(fabric, SimulatedFabric)
            if running.attempt.phase == "run":
                if fabric.clock.playing:
                    await fabric.set_clock(False, fabric.clock.speed)
                running.attempt.finish(fabric.now_ns)
        return self.view(name)

    async def end(self, name: str) -> list[dict[str, Any]]:
        """Ends an attempt and deletes its cluster. Raises NotThere."""
        async with self._changing:
            self._found(name)
            await self._end(name)
        return self.listed()

    async def _end(self, name: str) -> None:
        del self._all[name]
        if self._fleet.find(name) is not None:
            await self._fleet.delete(name)


def kept(grade: LabGrade) -> str:
    """Adds a verdict to the student's progress; returns why that is impossible, or an empty text."""
    try:
        saved = store.loaded(grade.lab, grade.student) or store.LabProgress(grade.lab, grade.student)
        store.save(store.with_grade(saved, grade))
    except LabError as error:
        return f"your progress is not kept: {error.message}"
    return ""


async def settled(cluster: Lab) -> None:
    """Waits until the cluster can begin. Raises Unavailable."""
    until_s = time.monotonic() + SETTLES_S
    while not cluster.fabric.settled():
        if time.monotonic() > until_s:
            raise Unavailable("the cluster of this lab is not ready: play its clock, then answer again")
        await asyncio.sleep(POLL_S)
