"""The free cluster of a student: one active, three standbys and a light load, in real time. A lab takes its place."""

from __future__ import annotations

import secrets
from collections.abc import Callable

import msgspec

from backend.attempts.service import Attempts, settled
from backend.classes.record import KeptRun
from backend.cluster_bounds import ClusterBounds
from backend.errors import LabError
from backend.fabrics.watched_cluster import GENTLE
from backend.fleet.fleet import OF_STUDENTS, Fleet
from backend.lab import Lab
from backend.labs.lab_run import seed_of
from backend.shape import Shape, new_config

LOAD = msgspec.structs.replace(GENTLE, rate_per_s=5.0, clients=2, objects=200)
CLUSTER_SHAPE = Shape(standbys=3)


class StudentClusters:
    """Begins and ends them one after the other, and never while an attempt begins."""

    def __init__(
        self, fleet: Fleet, attempts: Attempts, bounds: ClusterBounds, check_student: Callable[[str], object]
    ):
        """`check_student` raises NotThere for who is no student any more."""
        self._fleet = fleet
        self._attempts = attempts
        self._bounds = bounds
        self._check_student = check_student
        self._free: dict[str, str] = {}
        """Name of the free cluster of each student who has one."""

    def of(self, student: str) -> tuple[str, Lab] | None:
        """The cluster of a student now, free or of a lab, with its name."""
        names = [self._free[student]] if student in self._free else list(self._attempts.of(student))
        found = ((name, self._fleet.find(name)) for name in names)
        return next(((name, lab) for name, lab in found if lab is not None), None)

    async def open(self, student: str, name: str) -> str:
        """The student's free cluster, with `name` drawing its seed; begins it, and ends that of a lab, where there is none. Raises LabError."""
        async with self._attempts.changing:
            self._check_student(student)
            there = self.of(student)
            if there is not None and self._free.get(student) == there[0]:
                return there[0]
            await self._attempts.end_of(student)
            await self.end_free(student)
            cluster = f"{OF_STUDENTS}{secrets.token_hex(4)}"
            config = msgspec.structs.replace(new_config(CLUSTER_SHAPE, "class"), cluster=f"clover-{cluster}")
            lab = await self._fleet.create_exactly(
                cluster, config, seed_of("class", name), lambda events: None, self._bounds
            )
            self._free[student] = cluster
        try:
            await settled(lab)
            await lab.fabric.replace_client(LOAD)
        except LabError:
            await self._give_up(student, cluster)
            raise
        return cluster

    async def _give_up(self, student: str, cluster: str) -> None:
        """Ends a cluster that did not begin, unless another one has taken its place meanwhile."""
        async with self._attempts.changing:
            if self._free.get(student) == cluster:
                await self.end_free(student)

    async def resume(self, student: str, run: KeptRun) -> tuple[str, int] | None:
        """Repeats the run that ended with the control plane: the name of the new cluster, and the instant at which its clock pauses. None when
        the student has a cluster already. Raises NotThere when nothing is left of the run, LabError."""
        async with self._attempts.changing:
            self._check_student(student)
            if self.of(student) is not None:
                return None
            if run.attempt is not None:
                return await self._attempts.resume(run.attempt, student)
            name = f"{OF_STUDENTS}{secrets.token_hex(4)}"
            _, until_ns = await self._fleet.repeat(run.cluster, name, LOAD, lambda events: None, self._bounds)
            self._free[student] = name
            return name, until_ns

    async def end_free(self, student: str) -> None:
        """Only for who holds `changing` of the attempts."""
        name = self._free.pop(student, "")
        if name and self._fleet.find(name) is not None:
            await self._fleet.delete(name)

    async def end(self, student: str) -> None:
        """Ends whatever the student has."""
        async with self._attempts.changing:
            await self.end_free(student)
            await self._attempts.end_of(student)
