"""All clusters of one control plane: the one that `up` started, and simulated clusters beside it."""

from __future__ import annotations

import asyncio
import itertools
import re
import shutil
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

import msgspec

from backend.cluster_bounds import ClusterBounds
from backend.errors import Impossible, LabError, Malformed, NotThere, Unavailable
from backend.fabrics.home import ClusterFile
from backend.fleet.left_run import left_run
from backend.lab import Lab
from backend.settings import Settings
from backend.shape import Shape
from backend.simulated.fabric import SimulatedFabric, know_load, log_of
from backend.simulated.inputs import PastRun
from nodes.config import ClusterConfig, WorkloadConfig
from nodes.explore.plan import Plan
from nodes.real.memory import used_share
from nodes.real.private_files import private_directory, replace_file
from nodes.trace.events import Stamped

MAIN = "main"
"""The name of the cluster that `up` started."""
NAME = re.compile(r"^[a-z][a-z0-9-]{0,31}$")
OF_LABS = "lab-"
"""What the names of the clusters of attempts at labs begin with."""
OF_PAPERS = "paper-"
"""What the names of the clusters of papers' mechanisms begin with."""
OF_STUDENTS = "class-"
"""The same of the free clusters of students of a class."""
FORK = "fork-"
PASSING = (OF_LABS, OF_PAPERS, OF_STUDENTS, FORK)
"""Clusters with these names end with the control plane."""
DIRECTORY = "beside"
CLUSTERS_MAX = 64
MEMORY_MOST = 0.8
"""Share of the memory above which no further cluster is created."""
KEPT_EVENTS = 200_000
"""Events that are kept of each cluster beside the main one."""
RING = 2_000
"""Events of each that a page finds again after a broken connection."""
LOAD_FILE = "workload.json"
PLAN_FILE = "plan.json"
"""The trial of a cluster that plays one."""
OnEvents = Callable[[list[Stamped]], None]


class Fleet:
    """`main` is started and stopped by its owner; the others by `start`, `create`, `delete` and `stop`."""

    def __init__(self, main: Lab, on_trouble: Callable[[str], None] = lambda line: None):
        self.main = main
        self._beside: dict[str, Lab] = {}
        self._on_trouble = on_trouble
        self._changing = asyncio.Lock()
        self._stopped = False
        self._left: frozenset[str] = frozenset()

    @property
    def _root(self) -> Path:
        return self.main.home.path / DIRECTORY

    def all(self) -> dict[str, Lab]:
        """Every cluster by its name, the main one first."""
        return {MAIN: self.main, **self._beside}

    def find(self, name: str) -> Lab | None:
        return self.main if name == MAIN else self._beside.get(name)

    async def start(self) -> None:
        """Starts the clusters that were created before; one that cannot start is reported, and stays as it is.

        Those of labs, papers and classes are removed: they have no file with a load, unlike one that a person called so when the name was free.
        """
        for beginning in PASSING:
            for path in self._root.glob(f"{beginning}*"):
                if not (path / LOAD_FILE).exists() and path.name not in self._left:
                    shutil.rmtree(path, ignore_errors=True)
        for path in sorted(self._root.glob("*/cluster.json")):
            if path.parent.name in self._left:
                continue
            async with self._changing:
                try:
                    load, plan = read_load(path.parent), read_plan(path.parent)
                    await self._open(path.parent.name, Shape(), None, load, None, plan)
                except LabError as error:
                    self._on_trouble(f"the cluster {path.parent.name} does not start: {error.message}")

    def leave(self, names: Iterable[str]) -> None:
        """Before the start: the directories of these clusters stay, whose runs somebody will repeat."""
        self._left |= frozenset(names)

    async def create(self, name: str, shape: Shape, seed: int | None, load: WorkloadConfig) -> Lab:
        """Creates a simulated cluster and starts it. Raises Malformed, Impossible, Unavailable, CannotStart."""
        if not NAME.match(name) or name == MAIN or name.startswith(PASSING):
            taken = ", ".join((MAIN, *(f"{each}…" for each in PASSING)))
            raise Malformed(
                f"the name {name[:40]!r}: small letters, digits and `-`, at most 32, and none of {taken}"
            )
        return await self._create(name, lambda: self._open(name, shape, seed, load), load)

    async def create_exactly(
        self,
        name: str,
        cluster: ClusterConfig,
        seed: int,
        follow: OnEvents | None = None,
        bounds: ClusterBounds | None = None,
        past: PastRun | None = None,
        load: WorkloadConfig | None = None,
    ) -> Lab:
        """Creates a cluster of exactly this configuration, which ends with the control plane, and starts it. `follow` receives all of its events.
        With a past it repeats another run first, and then pauses. Raises LabError."""

        async def opened() -> Lab:
            file = ClusterFile(seed=seed, simulated=True, cluster=cluster)
            replace_file(self._root / name / "cluster.json", msgspec.json.encode(file))
            return await self._open(name, Shape(), None, load, follow, bounds=bounds, past=past)

        return await self._create(name, opened)

    async def play(self, name: str, plan: Plan) -> Lab:
        """Creates a cluster that plays a trial, under this name or the next free one like it. Raises LabError."""
        numbered = (f"{name}-{number}" for number in itertools.count(2))
        free = next(each for each in itertools.chain([name], numbered) if not self._is_taken(each))

        async def opened() -> Lab:
            file = ClusterFile(seed=plan.seed, simulated=True, cluster=plan.cluster)
            (self._root / free / PLAN_FILE).write_bytes(msgspec.json.encode(plan))
            replace_file(self._root / free / "cluster.json", msgspec.json.encode(file))
            return await self._open(free, Shape(), None, None, plan=plan)

        return await self._create(free, opened)

    def _is_taken(self, name: str) -> bool:
        return name in self._beside or (self._root / name / "cluster.json").exists()

    async def fork(self, source: Lab, name: str) -> Lab:
        """Repeats the run of a simulated cluster, from its input log, in a new cluster that pauses at the present instant of the other. That one
        receives no request for it. Raises Impossible, Unavailable."""
        fabric = source.fabric
        if not isinstance(fabric, SimulatedFabric):
            raise Impossible("only a simulated cluster can be forked: real time does not repeat")
        file = source.home.file
        try:
            past = PastRun(str(log_of(fabric)), fabric.now_ns)
        except OSError as error:
            raise Unavailable(f"cannot read the run of {file.cluster.cluster}: {error.strerror}") from None
        fork = await self.create_exactly(name, file.cluster, file.seed, lambda events: None, past=past)
        if fabric.workload is not None:
            take_load(fork, fabric.workload)
        return fork

    async def repeat(
        self, left: str, name: str, load: WorkloadConfig, follow: OnEvents, bounds: ClusterBounds | None
    ) -> tuple[Lab, int]:
        """Repeats the run that a cluster left behind when the control plane ended; returns the new one, and the instant at which it pauses.
        Raises NotThere when nothing is left of it, and LabError like `create_exactly`."""
        found = await asyncio.to_thread(left_run, self._root / left)
        file = found.file
        lab = await self.create_exactly(name, file.cluster, file.seed, follow, bounds=bounds, past=found.past)
        take_load(lab, load)
        return lab, found.past.until_ns

    async def _create(
        self, name: str, opened: Callable[[], Awaitable[Lab]], load: WorkloadConfig | None = None
    ) -> Lab:
        async with self._changing:
            if self._is_taken(name):
                raise Impossible(f"there is a cluster {name!r} already")
            if len(self._beside) >= CLUSTERS_MAX:
                raise Impossible(f"{CLUSTERS_MAX} simulated clusters are the most: delete one")
            if used_share() > MEMORY_MOST:
                raise Unavailable(f"{used_share():.0%} of the memory is used: delete a cluster first")
            try:
                private_directory(self._root)
                private_directory(self._root / name)
                if load is not None:
                    (self._root / name / LOAD_FILE).write_bytes(msgspec.json.encode(load))
                return await opened()
            except LabError:
                shutil.rmtree(self._root / name, ignore_errors=True)
                raise
            except OSError as error:
                raise Unavailable(f"cannot use {self._root}: {error.strerror}") from None

    async def _open(
        self,
        name: str,
        shape: Shape,
        seed: int | None,
        load: WorkloadConfig | None,
        follow: OnEvents | None = None,
        plan: Plan | None = None,
        bounds: ClusterBounds | None = None,
        past: PastRun | None = None,
    ) -> Lab:
        if self._stopped:
            raise Unavailable("the control plane is stopping")
        settings = Settings(
            self._root / name, self.main.settings.port, shape, simulated=True, seed=seed, workload=load, plan=plan,
            page=self.main.settings.page, kept_s=self.main.settings.kept_s, kept_events=KEPT_EVENTS, ring=RING, past=past,
            bounds=bounds,
        )  # fmt: skip
        lab = await Lab.open(settings, self._on_trouble, self.main.workers)
        if follow is not None:
            lab.followers.append(follow)
        try:
            await lab.start()
        except BaseException:
            await lab.stop()
            raise
        self._beside[name] = lab
        return lab

    async def delete(self, name: str) -> None:
        """Stops a cluster and removes its directory. Raises NotThere, Impossible."""
        if name == MAIN:
            raise Impossible("the main cluster ends with ./cloverlab down")
        async with self._changing:
            lab = self._beside.pop(name, None)
            if lab is None:
                raise NotThere(f"no cluster is called {name[:40]!r}; there are {', '.join(self.all())}")
            await lab.stop()
            await asyncio.to_thread(shutil.rmtree, self._root / name, ignore_errors=True)

    async def stop(self) -> None:
        """Stops all but the main one, whose owner stops it."""
        self._stopped = True
        async with self._changing:
            labs, self._beside = list(self._beside.values()), {}
            await asyncio.gather(*(lab.stop() for lab in labs))


def take_load(lab: Lab, load: WorkloadConfig) -> None:
    """Takes note of the load that a repeated run brings with it."""
    assert isinstance(lab.fabric, SimulatedFabric)
    know_load(lab.fabric, load)


def read_load(directory: Path) -> WorkloadConfig | None:
    """The workload with which a cluster was created; None where its file is missing or damaged."""
    try:
        return msgspec.json.decode((directory / LOAD_FILE).read_bytes(), type=WorkloadConfig)
    except (OSError, msgspec.DecodeError):
        return None


def read_plan(directory: Path) -> Plan | None:
    """The trial that a cluster plays; None where its file is missing or damaged."""
    try:
        return msgspec.json.decode((directory / PLAN_FILE).read_bytes(), type=Plan)
    except (OSError, msgspec.DecodeError):
        return None
