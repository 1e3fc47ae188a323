"""The attempts under way, each with a simulated cluster of its own beside the main one."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from typing import Any, Protocol

import msgspec

from backend.attempts.attempt import Attempt, AttemptRun
from backend.attempts.kept_runs import KeptRuns
from backend.cluster_bounds import ClusterBounds
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
"""Attempts of people who use the page with the instructor's key; students of a class have one each."""
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
    owner: str = ""
    """The student of a class whose attempt it is; empty outside of classes."""
    repeats: str = ""
    """The cluster whose run is repeated, until all of it was; then empty."""
    whole_ns: int = 0
    """The instant at which all of it was repeated."""


class AttemptOwners(Protocol):
    """The class whose students own attempts."""

    bounds: ClusterBounds
    """Of their clusters."""

    async def make_room(self, owner: str) -> None:
        """Ends another cluster of this student. Raises LabError when there is no such student any more."""

    def note(self, owner: str, attempt: Attempt) -> str:
        """Keeps the state of an attempt; returns why that is impossible, or an empty text."""


class Attempts:
    """Those outside of classes that had begun when the control plane ended go on when somebody looks at them, under new names."""

    def __init__(self, fleet: Fleet, owners: AttemptOwners | None = None):
        """Raises ClusterCannotStart for a file of attempts that cannot be read."""
        self._kept = KeptRuns(fleet.main.home.path)
        self._left = dict(self._kept.all)
        """Not looked at since the control plane started."""
        self._resumed: dict[str, str] = {}
        """New name by old name."""
        fleet.leave(run.cluster for run in self._left.values())
        self._fleet = fleet
        self._owners = owners
        self._all: dict[str, RunningAttempt] = {}
        self.changing = asyncio.Lock()
        """Held while clusters of attempts, or of students, begin and end."""

    async def start(self, lab_name: str, student: str, owner: str = "") -> dict[str, Any]:
        """Begins an attempt, in the place of an earlier one of this student at this lab, or of this owner. Raises LabError."""
        lab = lab_of(lab_name, student)
        if not owner:
            store.file_of(lab.key, student)
            await self.resume_left()
        async with self.changing:
            if owner and self._owners is not None:
                await self._owners.make_room(owner)
            for name in self._superseded(lab, student, owner):
                await self._end(name)
            if not owner and len(self.of("")) >= ATTEMPTS_MAX:
                raise Impossible(f"{ATTEMPTS_MAX} attempts are under way: end one, or wait for a free one")
            name = f"{OF_LABS}{secrets.token_hex(4)}"
            config = msgspec.structs.replace(cluster_config(lab.file.cluster, 1.0), cluster=f"clover-{name}")
            attempt = Attempt(name, lab, student, config)
            cluster = await self._fleet.create_exactly(
                name, config, seed_of(lab.key, student), attempt.on_events, self._bounds(owner)
            )
            cluster.no_faults = WAITS
            self._all[name] = RunningAttempt(attempt, cluster, time.monotonic(), asyncio.Lock(), owner=owner)
        return self.view(name)

    def _bounds(self, owner: str) -> ClusterBounds | None:
        return self._owners.bounds if owner and self._owners is not None else None

    def of(self, owner: str) -> dict[str, RunningAttempt]:
        """The attempts of a student of a class, at most one; for an empty name those outside of classes."""
        return {name: each for name, each in self._all.items() if each.owner == owner}

    def _superseded(self, lab: StudentLab, student: str, owner: str) -> list[str]:
        """The student's earlier attempt at the lab, those of the owner and, when there is no room, the one that was idle for longest."""
        who = student.strip().lower()
        same = {
            name
            for name, each in self.of(owner).items()
            if owner
            or (each.attempt.lab.key == lab.key and each.attempt.progress.student.strip().lower() == who)
        }
        found = [name for name in self._all if name in same or self._fleet.find(name) is None]
        left = [name for name in self.of("") if name not in found]
        if not owner and len(left) >= ATTEMPTS_MAX:
            oldest = min(left, key=lambda name: self._all[name].asked_s)
            if time.monotonic() - self._all[oldest].asked_s > IDLE_S:
                found.append(oldest)
        return found

    def listed(self, owner: str = "") -> list[dict[str, Any]]:
        """Those of one student of a class, or those outside of classes."""
        return [
            self._shown(each)
            for name, each in self._all.items()
            if self._fleet.find(name) is not None and each.owner == owner
        ]

    def view(self, name: str) -> dict[str, Any]:
        """Raises NotThere."""
        running = self._found(name)
        running.asked_s = time.monotonic()
        self._settle(running)
        return self._shown(running)

    def shown_to_instructor(self, owner: str) -> dict[str, Any] | None:
        """The attempt of a student as it is now. Looking at it keeps nothing awake."""
        for name, running in self.of(owner).items():
            if self._fleet.find(name) is running.cluster:
                self._settle(running)
                return self._shown(running)
        return None

    def _settle(self, running: RunningAttempt) -> None:
        """Keeps the verdict of a run that is over, and notes that a run was repeated."""
        grade = running.attempt.grade
        if running.repeats and running.cluster.fabric.now_ns >= running.whole_ns:
            running.repeats = ""
            running.trouble = self._note(running)
        if grade is not None and running.cluster.no_faults != OVER:
            running.cluster.no_faults = OVER
            running.trouble = self._note(running) if running.owner else kept(grade)
            self._forget(running.attempt.name)

    def _note(self, running: RunningAttempt) -> str:
        """Keeps what a run needs to go on; returns why that is impossible, or an empty text."""
        attempt = running.attempt
        if running.owner:
            return self._owners.note(running.owner, attempt) if self._owners is not None else ""
        try:
            self._kept.keep(attempt.name, attempt.kept_run(running.repeats or attempt.name))
        except Unavailable as error:
            return error.message
        return ""

    def _forget(self, name: str) -> None:
        with contextlib.suppress(Unavailable):  # Then it is begun again once more, and can be ended.
            self._kept.drop(name)

    async def resume_left(self) -> None:
        """Goes on with the attempts outside of classes that ended with the control plane. What cannot begin now is tried again."""
        if not self._left:
            return
        async with self.changing:
            for old, run in list(self._left.items()):
                try:
                    name, whole_ns = await self.resume(run, "")
                except NotThere:
                    self._forget(old)
                except LabError:
                    continue
                else:
                    running = self._all[name]
                    running.repeats, running.whole_ns = run.cluster, whole_ns
                    self._resumed[old] = name
                    with contextlib.suppress(Unavailable):
                        self._kept.rename(old, name)
                del self._left[old]

    async def look(self, name: str) -> dict[str, Any]:
        """The attempt of this name, perhaps of before the last start of the control plane. Raises NotThere."""
        if name in self._left:
            await self.resume_left()
        return self.view(self._resumed.get(name, name))

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
            running.trouble = self._note(running)
        return self.view(name)

    def hint(self, name: str, step: str) -> dict[str, Any]:
        """Raises NotThere, Impossible."""
        running = self._found(name)
        running.attempt.hint(step)
        if running.attempt.phase == "run":
            running.trouble = self._note(running)
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

    async def end(self, name: str) -> None:
        """Ends an attempt and deletes its cluster. Raises NotThere."""
        async with self.changing:
            self._found(name)
            await self._end(name)

    async def resume(self, run: AttemptRun, owner: str) -> tuple[str, int]:
        """Goes on with an attempt whose cluster ended with the control plane; returns its new name, and the instant at which its
        clock pauses. Only for who holds `changing`. Raises LabError."""
        lab = lab_of(run.lab, run.student)
        name = f"{OF_LABS}{secrets.token_hex(4)}"
        config = msgspec.structs.replace(cluster_config(lab.file.cluster, 1.0), cluster=f"clover-{name}")
        attempt = Attempt(name, lab, run.student, config)
        attempt.answer(dict(run.answers))
        attempt.progress = msgspec.structs.replace(attempt.progress, hints=dict(run.hints))
        attempt.begin(run.began_ns)
        load = workload_config(lab.file.workload, 1.0)
        cluster, until_ns = await self._fleet.repeat(
            run.cluster, name, load, attempt.on_events, self._bounds(owner)
        )
        self._all[name] = RunningAttempt(attempt, cluster, time.monotonic(), asyncio.Lock(), owner=owner)
        return name, until_ns

    async def end_of(self, owner: str) -> None:
        """Ends the attempt of a student of a class, if there is one. Only for who holds `changing`."""
        for name in self.of(owner):
            await self._end(name)

    async def _end(self, name: str) -> None:
        del self._all[name]
        self._forget(name)
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
