"""The macrobenchmarks of DCFS2 §5.1.2 on simulated servers; each client has its own part of the namespace.

Macrobenchmark1 creates the namespace, stats all of it and deletes it. Macrobenchmark2 creates it and draws calls from a mix.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Awaitable, Callable
from itertools import pairwise

import msgspec

from benchmarks._caches import InodeCache, watched
from benchmarks._mix import Item, Mix
from benchmarks._namespaces import NamespaceShape
from nodes.config import SECOND, Timing, many_groups
from nodes.metadata.operations import Create, Delete, Mkdir, Operation, Stat
from nodes.metadata.placement import Granularity
from nodes.metadata.tree import Tree
from nodes.sim.cluster import SimClient, SimCluster
from nodes.sim.service_time import ServiceTimeModel
from nodes.trace.events import SharedStep, Stamped

PHASES = ("create", "stat", "delete")
PATIENT = Timing(client_timeout_ms=30_000, call_deadline_ms=600_000, session_timeout_ms=60_000)
"""Long timeouts: no server fails in these runs, and retries of a client would only add load."""
WARM_NS = 2 * SECOND
"""Time until every active knows the actives of the other groups."""
LIMIT_NS = 100_000 * SECOND


class ServiceCosts(msgspec.Struct, frozen=True):
    """Service times of a server's hardware, in nanoseconds."""

    message_ns: int
    """Time to handle one message."""
    access_ns: int
    """Time to read or write one inode that is not in the cache."""
    sync_ns: int
    """Time to make the journal durable, beyond the simulated disk's own (0.15 to 0.35 ms, at times 8)."""


class Setting(msgspec.Struct, frozen=True):
    """Configuration of one run."""

    placement: str
    granularity: Granularity = Granularity()
    groups: int = 16
    clients: int = 32
    calls: int = 4
    """Open calls of each client."""
    cache: int = 2_560
    """Inodes per server."""


class MacrobenchmarkOutcome(msgspec.Struct):
    """Results of one run."""

    per_s: dict[str, float]
    """Objects per second of virtual time, by phase."""
    objects: list[int]
    """Objects of each group, once all are created."""
    branch_points: int
    shared: dict[str, int]
    """Operations on several groups, by phase."""
    reads: dict[str, int]
    """Reads of inodes that were not in a cache, by phase."""
    writes: dict[str, int]

    @property
    def evenness(self) -> float:
        """Ratio of the average group's objects to the largest group's: 1 when all groups are equal."""
        return sum(self.objects) / len(self.objects) / max(self.objects)


def items(shape: NamespaceShape) -> list[Item]:
    """All objects but the root in depth-first order; a directory precedes its content."""
    below: list[list[int]] = [[] for _ in shape.parents]
    for number, parent in enumerate(shape.parents):
        if number:
            below[parent].append(number)
    found: list[Item] = []
    waiting = [(0, "")]
    while waiting:
        number, path = waiting.pop()
        if number:
            found.append(Item(path, number, False))
        found += [Item(f"{path}/f{file}", number, True) for file in range(shape.files[number])]
        waiting += [(child, f"{path}/d{child}") for child in reversed(below[number])]
    return found


def parts(work: list[Item], count: int) -> list[list[Item]]:
    """The same objects in `count` disjoint runs of equal length. Each run has its directories first, level by level, then its files."""
    edges = [len(work) * place // count for place in range(count + 1)]
    runs = [work[begin:end] for begin, end in pairwise(edges)]
    return [
        sorted(run, key=lambda item: (item.is_file, not item.is_file and item.path.count("/")))
        for run in runs
    ]


class Gates:
    """Dependencies between calls: a call waits until its parent exists, or its directory is empty."""

    def __init__(self, shape: NamespaceShape):
        self._parents = shape.parents
        self._left = list(shape.files)
        for parent in shape.parents[1:]:
            self._left[parent] += 1
        self._made = {0}
        self._waiting: dict[int, list[asyncio.Future[None]]] = {}

    async def to_make(self, item: Item) -> None:
        parent = self._parent(item)
        if parent not in self._made:
            await self._opened(parent)

    def made(self, item: Item) -> None:
        if not item.is_file:
            self._made.add(item.directory)
            self._open(item.directory)

    async def to_delete(self, item: Item) -> None:
        if not item.is_file and self._left[item.directory]:
            await self._opened(item.directory)

    def deleted(self, item: Item) -> None:
        parent = self._parent(item)
        self._left[parent] -= 1
        if not self._left[parent]:
            self._open(parent)

    def _parent(self, item: Item) -> int:
        return item.directory if item.is_file else self._parents[item.directory]

    async def _opened(self, directory: int) -> None:
        gate: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(directory, []).append(gate)
        await gate

    def _open(self, directory: int) -> None:
        for gate in self._waiting.pop(directory, []):
            gate.set_result(None)


class MacrobenchmarkRun:
    """A cluster whose groups have one server each, as in the paper, and its clients."""

    def __init__(self, shape: NamespaceShape, setting: Setting, costs: ServiceCosts, seed: int):
        self.shape = shape
        self.parts = parts(items(shape), setting.clients)
        """The objects of each client."""
        self._setting = setting
        config = many_groups(
            setting.groups,
            0,
            placement=setting.placement,
            granularity=setting.granularity,
            timing=PATIENT,
            image_every=0,
        )
        with watched(setting.cache) as found:
            self._cluster = SimCluster(config, seed)
            self._cluster.run_until(self._cluster.settled, LIMIT_NS)
        self._cluster.run_for(WARM_NS)
        self._trees: list[Tree] = [tree for tree, _ in found.values()]
        self._caches: list[InodeCache] = [cache for _, cache in found.values()]
        for group in config.groups:
            self._charge(group.members[0], found[group.number][1], costs)
        self._clients = [
            self._cluster.start_client(f"client{number + 1}") for number in range(setting.clients)
        ]
        self._shared = 0
        self._cluster.on_event(self._on_event)

    def _charge(self, name: str, cache: InodeCache, costs: ServiceCosts) -> None:
        server = self._cluster.servers[name]
        assert server.machine is not None
        cache.news()
        server.store.slow_ns = costs.sync_ns
        self._cluster.net.hosts[name].desk = ServiceTimeModel(
            server.machine, costs.message_ns, lambda: cache.news() * costs.access_ns
        )

    def _on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        self._shared += type(event) is SharedStep and event.step == "begin"
        self._cluster.events.clear()

    def run(self) -> MacrobenchmarkOutcome:
        """Runs the three phases one after the other. Raises FsError when a call fails, Stuck."""
        outcome = MacrobenchmarkOutcome({}, [], 0, {}, {}, {})
        gates = Gates(self.shape)
        for phase in PHASES:
            before = self._counts()
            outcome.per_s[phase] = self._phase(phase, gates)
            shared, reads, writes = (now - then for now, then in zip(self._counts(), before, strict=True))
            outcome.shared[phase], outcome.reads[phase], outcome.writes[phase] = shared, reads, writes
            if phase == "create":
                outcome.objects = [len(tree.inodes) for tree in self._trees]
                outcome.branch_points = sum(tree.branch_points for tree in self._trees)
        return outcome

    def _counts(self) -> tuple[int, int, int]:
        return (
            self._shared,
            sum(cache.reads for cache in self._caches),
            sum(cache.writes for cache in self._caches),
        )

    def _phase(self, phase: str, gates: Gates) -> float:
        """Runs one phase; returns objects per second."""
        tasks: list[asyncio.Task[None]] = []
        for client, part in zip(self._clients, self.parts, strict=True):
            queue = deque(reversed(part) if phase == "delete" else part)
            tasks += [client.begin(_works(client, phase, queue, gates)) for _ in range(self._setting.calls)]
        return self.shape.objects / self._until_done(tasks)

    def mixed(self, calls: int, seed: int) -> float:
        """Macrobenchmark2: calls per second on the complete namespace, with `calls` of each client. Raises FsError, Stuck."""
        self._phase("create", Gates(self.shape))
        tasks: list[asyncio.Task[None]] = []
        each = calls // self._setting.calls
        for number, (client, part) in enumerate(zip(self._clients, self.parts, strict=True)):
            for caller in range(self._setting.calls):
                mix = Mix(part, f"{number}-{caller}", random.Random(f"{seed}/{number}/{caller}"))
                tasks.append(client.begin(_calls(client, mix, each)))
        return each * len(tasks) / self._until_done(tasks)

    def _until_done(self, tasks: list[asyncio.Task[None]]) -> float:
        """Runs the simulator until the tasks end; returns seconds of virtual time."""
        began_ns = self._cluster.now_ns
        failed: list[asyncio.Task[None]] = []
        for task in tasks:
            task.add_done_callback(lambda done: failed.append(done) if done.exception() else None)
        self._cluster.run_until(lambda: _over(tasks, failed), LIMIT_NS)
        return (self._cluster.now_ns - began_ns) / SECOND


def _over(tasks: list[asyncio.Task[None]], failed: list[asyncio.Task[None]]) -> bool:
    """Whether all tasks have ended. Raises the first exception of a task."""
    if failed:
        failed[0].result()
    while tasks and tasks[-1].done():
        tasks.pop()
    return not tasks


async def _works(client: SimClient, phase: str, queue: deque[Item], gates: Gates) -> None:
    """One caller of a client: takes the next object of the client's part until none is left."""
    wait: Callable[[Item], Awaitable[None]] = {
        "create": gates.to_make, "stat": _at_once, "delete": gates.to_delete,
    }[phase]  # fmt: skip
    while queue:
        item = queue.popleft()
        await wait(item)
        await client.client.call(_operation(phase, item))
        if phase == "create":
            gates.made(item)
        elif phase == "delete":
            gates.deleted(item)


async def _calls(client: SimClient, mix: Mix, count: int) -> None:
    for _ in range(count):
        await client.client.call(mix.draw())


async def _at_once(item: Item) -> None:
    pass


def _operation(phase: str, item: Item) -> Operation:
    if phase == "stat":
        return Stat(item.path)
    if phase == "delete":
        return Delete(item.path)
    return Create(item.path) if item.is_file else Mkdir(item.path)
