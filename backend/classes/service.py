"""The class of a control plane: its students, their clusters, and what they have done."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Hashable
from typing import Any

import msgspec

from backend.attempts.attempt import Attempt
from backend.attempts.service import Attempts
from backend.classes.hand_in import check_verdict
from backend.classes.presence import StudentPresence
from backend.classes.record import (
    ClassRecord,
    ClassStudent,
    HandIn,
    KeptRun,
    LabResult,
    with_hand_in,
    with_result,
    with_resumed,
)
from backend.classes.roster import ClassRoster
from backend.classes.student_clusters import StudentClusters
from backend.cluster_bounds import ClusterBounds
from backend.errors import Impossible, LabError, NotThere
from backend.fleet.fleet import FORK, Fleet
from backend.grading.verdict import GradeVerdict
from backend.lab import Lab
from backend.person import Person
from backend.simulated.fabric import SimulatedFabric

FORKS_MAX = 4
IDLE_S = 300.0
"""Time after which the clock of a student who is away is paused. The cluster waits for them as long as the class is open."""
SWEEP_S = 5.0


class Classes:
    """The roster with the clusters of its students. It owns the attempts of the control plane, also those outside of classes."""

    bounds = ClusterBounds()

    def __init__(self, fleet: Fleet):
        """Raises ClusterCannotStart for a file that cannot be read."""
        self._fleet = fleet
        self._presences: dict[str, StudentPresence] = {}
        self._repeating: dict[str, tuple[KeptRun, int]] = {}
        """The runs of students that are being repeated, with the instants at which they are whole again."""
        self._sweeping: asyncio.Task[None] | None = None
        self._forking = asyncio.Lock()
        self.roster = ClassRoster(fleet.main.home.path)
        self.attempts = Attempts(fleet, self)
        self.clusters = StudentClusters(fleet, self.attempts, self.bounds, self.roster.student)
        if self.roster.record.is_open:
            fleet.leave(each.run.cluster for each in self.roster.record.students if each.run is not None)

    # --- keys -------------------------------------------------------------------------------------

    async def end(self) -> ClassRecord:
        """Ends the keys of all students at once, then their clusters; the results stay."""
        record = self.roster.end()
        for student in record.students:
            self._revoke(student.id)
            await self.clusters.end(student.id)
        return record

    def renew_key(self, id: str) -> str:
        """A new key for a student; the old one ends, and what it has opened. Raises NotThere."""
        key = self.roster.renew_key(id)
        self._revoke(id)
        return key

    async def remove(self, id: str) -> ClassRecord:
        """Removes a student with all results. Raises NotThere."""
        record = self.roster.remove(id)
        self._revoke(id)
        await self.clusters.end(id)
        return record

    def presence(self, id: str) -> StudentPresence:
        return self._presences.setdefault(id, StudentPresence())

    def _revoke(self, id: str) -> None:
        """Closes the sockets that an old key has opened."""
        self.presence(id).revoked.set()
        del self._presences[id]

    # --- clusters ---------------------------------------------------------------------------------

    def cluster_of(self, id: str) -> Lab | None:
        found = self.clusters.of(id)
        return found[1] if found is not None else None

    def student_with(self, cluster: Lab | str) -> ClassStudent | None:
        """The student who has this cluster, or the one of this name, now."""
        lab = self._fleet.find(cluster) if isinstance(cluster, str) else cluster
        students = self.roster.record.students if lab is not None else ()
        return next((each for each in students if self.cluster_of(each.id) is lab), None)

    async def open_cluster(self, person: Person) -> str:
        """The name of the student's free cluster, in the place of that of a lab; after a new start of the control plane, of the cluster that the
        student had, with its run repeated. Raises LabError."""
        run = self.roster.student(person.id).run
        if run is not None and self.cluster_of(person.id) is None:
            with contextlib.suppress(NotThere):
                resumed = await self.clusters.resume(person.id, run)
                if resumed is not None:
                    self._note_resumed(person.id, run, *resumed)
                    return resumed[0]
        name = await self.clusters.open(person.id, person.name)
        if person.id not in self._repeating:
            self._keep_run(person.id, KeptRun(name))
        return name

    def _note_resumed(self, id: str, run: KeptRun, name: str, until_ns: int) -> None:
        """The old run is kept until the new one has repeated all of it."""
        attempt = run.attempt
        again = msgspec.structs.replace(attempt, cluster=name) if attempt is not None else None
        self._repeating[id] = (KeptRun(name, again), until_ns)
        self.roster.change(id, lambda student: with_resumed(student, run.cluster, name))

    def _keep_run(self, id: str, run: KeptRun | None) -> None:
        """Raises NotThere, Unavailable."""
        self._repeating.pop(id, None)
        self.roster.change(id, lambda student: msgspec.structs.replace(student, run=run))

    async def fork(self, id: str) -> str:
        """Repeats the run of a student in a cluster of the instructor's; returns its name. Raises NotThere, Impossible, Unavailable."""
        async with self._forking:
            source = self.cluster_of(self.roster.student(id).id)
            if source is None:
                raise Impossible("this student has no cluster now")
            if sum(name.startswith(FORK) for name in self._fleet.all()) >= FORKS_MAX:
                raise Impossible(f"{FORKS_MAX} forks are the most: delete one in the menu of clusters")
            name = f"{FORK}{secrets.token_hex(4)}"
            await self._fleet.fork(source, name)
            return name

    async def make_room(self, owner: str) -> None:
        """Ends the free cluster of a student whose lab begins. Raises NotThere."""
        self._keep_run(owner, None)
        await self.clusters.end_free(owner)

    # --- results ----------------------------------------------------------------------------------

    def note(self, owner: str, attempt: Attempt) -> str:
        """Keeps the predictions, hints and verdict of an attempt; returns why that is impossible, or an empty text."""
        repeats = owner in self._repeating and attempt.grade is None

        def noted(student: ClassStudent) -> ClassStudent:
            run = student.run if repeats else run_of(attempt)
            result = result_of(attempt, student, time.time())
            return msgspec.structs.replace(with_result(student, result), run=run)

        try:
            self.roster.change(owner, noted)
        except LabError as error:
            return f"your results are not kept: {error.message}"
        if not repeats:
            self._repeating.pop(owner, None)
        return ""

    def hand_in(self, id: str, verdict: GradeVerdict) -> ClassStudent:
        """Takes a signed verdict. Raises Malformed, NotThere, Impossible."""
        check_verdict(verdict, self.roster.student(id).name, self.roster.opened.code)
        hand_in = HandIn(verdict, time.time())
        return self.roster.change(id, lambda student: with_hand_in(student, hand_in))

    # --- bounds of time ---------------------------------------------------------------------------

    def begin_sweeping(self) -> None:
        self._sweeping = asyncio.create_task(self._sweep(), name="clusters of absent students")

    async def stop(self) -> None:
        if self._sweeping is not None:
            self._sweeping.cancel()
            await asyncio.gather(self._sweeping, return_exceptions=True)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_S)
            for student in self.roster.record.students if self.roster.record.is_open else ():
                with contextlib.suppress(LabError):
                    await self.look_after(student.id)

    async def look_after(self, id: str) -> None:
        """Notes how far a student is; pauses the cluster of one who is away, and one that is at the end of its time.
        Raises LabError."""
        presence, lab = self.presence(id), self.cluster_of(id)
        presence.look(state_of(self.attempts.shown_to_instructor(id)))
        if lab is None or not isinstance(lab.fabric, SimulatedFabric):
            return
        fabric, repeated = lab.fabric, self._repeating.get(id)
        if repeated is not None:
            if fabric.now_ns >= repeated[1]:
                self._keep_run(id, repeated[0])
        elif fabric.clock.playing and (presence.away_s > IDLE_S or fabric.now_ns >= self.bounds.until_ns):
            await fabric.set_clock(False, fabric.clock.speed)


def state_of(attempt: dict[str, Any] | None) -> Hashable:
    """What changes when a student gets on: the lab, its phase, and the state and hints of each step."""
    if attempt is None:
        return None
    steps = ((step["state"], step["hints_left"]) for step in attempt["steps"])
    return (attempt["name"], attempt["phase"], *steps)


def run_of(attempt: Attempt) -> KeptRun | None:
    """What has to be kept of a run that goes on; None for one that is over."""
    if attempt.grade is not None:
        return None
    return KeptRun(attempt.name, attempt.kept_run(attempt.name))


def result_of(attempt: Attempt, student: ClassStudent, now_s: float) -> LabResult:
    before = next((each for each in student.results if each.attempt == attempt.name), None)
    grade, progress = attempt.grade, attempt.progress
    return LabResult(
        attempt.name, attempt.lab.key, before.began_s if before is not None else now_s, progress.answers,
        {step.id: step.passed for step in grade.steps} if grade is not None else {},
        sum(progress.hints.values()), now_s if grade is not None else 0.0,
    )  # fmt: skip
