"""A workload: concurrent calls in a given mix at a given rate, through one smart client."""

from __future__ import annotations

import asyncio
from collections import Counter
from itertools import accumulate

from nodes.client.files import FileClient
from nodes.client.smart_client import SmartClient
from nodes.config import SECOND, ClientConfig, WorkloadConfig
from nodes.errors import FsError
from nodes.metadata.operations import (
    Create,
    Delete,
    Link,
    List,
    Listing,
    Mkdir,
    Operation,
    Rename,
    SetPermission,
    Stat,
)
from nodes.scope import Scope
from nodes.workloads.file_calls import FileCalls
from nodes.world import World

WITH_CONTENT = ("put", "append", "get")
MAKING = ("create", "mkdir", "link")
PAGE = 1_000
"""Names that are asked for at once when those of an earlier start are taken over."""


class Workload:
    """`clients` callers share the rate; each creates, reads and removes its own names below `root`."""

    def __init__(self, world: World, client: SmartClient, files: FileClient, config: WorkloadConfig):
        self._world = world
        self._client = client
        self._file_calls = FileCalls(world, files, config, client.session)
        self._config = config
        self._rate_per_s = config.rate_per_s
        self._paused = asyncio.Event()
        self._paused.set()
        self.mix(config.mix)
        self._left = config.count
        self._names = 0
        self._remembered = config.objects or config.remembered
        self._files: list[str] = []
        self._made: list[str] = []
        """Directories that may be moved and removed."""
        self._counts: Counter[str] = Counter()
        self._turn_ns = 0
        self._callers = 0
        self.finished = False
        self.scope: Scope = world.scope.child("workload")

    def throttle(self, rate_per_s: float | None = None, paused: bool | None = None) -> None:
        """Changes the total rate (0: as fast as answers come) or holds the callers."""
        if rate_per_s is not None:
            self._rate_per_s = rate_per_s
            self._turn_ns = 0
        if paused is not None:
            (self._paused.clear if paused else self._paused.set)()

    def mix(self, weights: dict[str, float]) -> None:
        self._kinds = list(weights)
        self._weights = list(accumulate(weights.values()))

    def counts(self) -> dict[str, int]:
        """Calls by outcome: `ok` and POSIX names."""
        return dict(self._counts)

    @property
    def rate_per_s(self) -> float:
        return self._rate_per_s

    @property
    def paused(self) -> bool:
        return not self._paused.is_set()

    async def run(self) -> None:
        """Makes the directories, then starts the callers."""
        for path in (self._config.root, *self._directories()):
            await self._call(Mkdir(path))
        if self._config.objects:
            for path in self._directories():
                await self._adopt(path)
        self._callers = self._config.clients
        for caller in range(self._config.clients):
            self.scope.spawn(self._caller(), f"caller {caller}")

    def _directories(self) -> list[str]:
        return [f"{self._config.root}/d{number}" for number in range(self._config.directories)]

    async def _adopt(self, directory: str) -> None:
        """Takes over the names that an earlier start has left, up to twice the bound."""
        after, more = "", True
        while more and len(self._files) < 2 * self._config.objects:
            try:
                listing = (await self._client.call(List(directory, after, PAGE))).result
            except FsError:
                return
            assert isinstance(listing, Listing)
            self._files += [f"{directory}/{name}" for name in listing.names]
            after, more = listing.names[-1] if listing.names else "", listing.more

    async def _caller(self) -> None:
        while self._left is None or self._left > 0:
            await self._paused.wait()
            if self._left is not None:
                self._left -= 1
            await self._await_turn()
            await self._do(self._draw())
        self._callers -= 1
        if not self._callers:
            self.finished = True
            await self._client.close()

    async def _await_turn(self) -> None:
        """Spreads the calls evenly over time; lost time is not caught up."""
        if not self._rate_per_s:
            return
        now = self._world.clock.monotonic_ns()
        turn = max(self._turn_ns, now)
        self._turn_ns = turn + round(SECOND / self._rate_per_s)
        if turn > now:
            await self._world.clock.sleep(turn - now)

    async def _call(self, operation: Operation) -> str:
        """Returns the POSIX name of the error, empty for none."""
        try:
            await self._client.call(operation)
        except FsError as error:
            self._counts[error.name] += 1
            return error.name
        self._counts["ok"] += 1
        return ""

    async def _do(self, kind: str) -> None:
        if kind in WITH_CONTENT:
            error = await self._file_calls.call(kind, f"{self._stem()}-{self._number()}")
            self._counts[error or "ok"] += 1
        else:
            await self._change(self._choose(self._within_bound(kind)))

    async def _change(self, operation: Operation) -> None:
        """One call. An object whose deletion failed is still there, for all that is known."""
        error = await self._call(operation)
        if isinstance(operation, Delete) and error not in ("", "ENOENT") and self._config.objects:
            self._files.append(operation.path)

    def _within_bound(self, kind: str) -> str:
        most = self._config.objects
        if not most or kind not in MAKING or len(self._files) + len(self._made) < most:
            return kind
        return "delete" if self._files else "rmdir"

    def _draw(self) -> str:
        if len(self._kinds) == 1:
            return self._kinds[0]
        return self._world.rng.choices(self._kinds, cum_weights=self._weights)[0]

    def _choose(self, kind: str) -> Operation:
        rng = self._world.rng
        if kind in ("create", "mkdir"):
            return self._make(kind)
        if kind in ("rmdir", "move_directory"):
            return self._change_directory(kind)
        directory = f"{self._config.root}/d{rng.randrange(self._config.directories)}"
        if kind == "list":
            return List(directory)
        if not self._files:
            return Stat(directory)
        place = rng.randrange(len(self._files))
        if kind == "delete":
            return Delete(forget(self._files, place))
        if kind in ("rename", "move"):
            old = self._files[place]
            stem = old.rsplit("-", 1)[0] if kind == "rename" else self._stem()
            self._files[place] = f"{stem}-{self._number()}"
            return Rename(old, self._files[place])
        if kind == "link":
            return self._link(self._files[place])
        if kind == "set_permission":
            return SetPermission(self._files[place], rng.choice((0o600, 0o640, 0o644)))
        return Stat(self._files[place])

    def _link(self, file: str) -> Operation:
        """A link of a file to a new name, which is remembered like that of a new file."""
        name = f"{self._stem()}-{self._number()}"
        if len(self._files) < self._remembered:
            self._files.append(name)
        return Link(file, name)

    def _change_directory(self, kind: str) -> Operation:
        if not self._made:
            return self._make("mkdir")
        place = self._world.rng.randrange(len(self._made))
        if kind == "rmdir":
            return Delete(forget(self._made, place))
        old = self._made[place]
        self._made[place] = f"{self._stem()}-{self._number()}"
        return Rename(old, self._made[place])

    def _stem(self) -> str:
        """A path for a new name in some directory."""
        number = self._world.rng.randrange(self._config.directories)
        return f"{self._config.root}/d{number}/{self._client.session}"

    def _number(self) -> int:
        self._names += 1
        return self._names

    def _make(self, kind: str) -> Operation:
        rng = self._world.rng
        path = f"{self._stem()}-{self._number()}"
        if kind == "mkdir":
            if len(self._made) < self._remembered:
                self._made.append(path)
            return Mkdir(path)
        if len(self._files) < self._remembered:
            self._files.append(path)
        else:
            self._files[rng.randrange(len(self._files))] = path
        return Create(path)


def forget(names: list[str], place: int) -> str:
    """Removes a name from the list; the last one takes its place."""
    path, names[place] = names[place], names[-1]
    names.pop()
    return path


def start_workload(world: World, config: ClientConfig) -> Workload:
    """Starts the generator in this world; its session is named after it and this very start."""
    assert config.workload is not None
    session = f"{config.name}.{world.rng.getrandbits(40):010x}"
    smart = SmartClient(world, config.cluster, session)
    workload = Workload(world, smart, FileClient(world, config.cluster, smart), config.workload)
    workload.scope.spawn(workload.run(), "workload")
    return workload
