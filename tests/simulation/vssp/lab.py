"""Pool nodes without metadata servers, in the simulator."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from typing import Any

from nodes.config import SECOND, ClusterConfig
from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import Made
from nodes.metadata.records import MakeRecord
from nodes.protocols.vssp.acknowledgement import STRATEGIES
from nodes.protocols.vssp.mechanism import PoolImageStore
from nodes.sim.clock import Rate
from nodes.sim.cluster import SimCluster
from nodes.sim.disk import MediumStore
from nodes.sim.server import SimServer
from nodes.sim.world import SimWorld
from nodes.slots import StoredFile
from nodes.trace.base import Event
from nodes.trace.events import AnyEvent
from nodes.units import ROOT, OpId
from nodes.wire.messages import Mark, Message

LIMIT_NS = 300 * SECOND


def namespace_of(files: int) -> Namespace:
    namespace = Namespace()
    namespace.sessions.open("ada", 0, None)
    root = ROOT
    for number in range(1, files + 1):
        parent = root if number % 10 == 1 else root + number // 10 * 10 + 1
        parent = parent if parent in namespace.tree.inodes else root
        operation = OpId("ada", number)
        namespace.apply(
            MakeRecord(
                operation, number, number, Made(root + number), parent, [f"name-{number:032}"], root + number,
                number % 10 == 1, 0o644,
            )
        )  # fmt: skip
    return namespace


class PoolLab:
    """Nodes n1, n2, …, and an unknown peer that may send them anything."""

    def __init__(
        self, seed: int, nodes: int = 3, partitions: int = 4, strategy: str = "vssp", files: int = 3000
    ):
        self.cluster = SimCluster(ClusterConfig(), seed)
        self.namespace = namespace_of(files)
        self.names = [f"n{number}" for number in range(1, nodes + 1)]
        self.pools: dict[str, PoolImageStore] = {}
        self.journals: dict[str, list[StoredFile]] = {}
        self._make = lambda name: lambda world: self._start(name, world, partitions, strategy)
        for name in [*self.names, "stranger"]:
            server = SimServer(
                name,
                "",
                MediumStore(random.Random(f"{seed}/{name}")),
                Rate(self.cluster.loop),
                self._make(name),
            )
            self.cluster.servers[name] = server
            self.cluster.start(server)
        self.mark = Mark(0, 1, 100, 7)

    def _start(self, name: str, world: SimWorld, partitions: int, strategy: str) -> None:
        pool = self.pools[name] = PoolImageStore(
            STRATEGIES[strategy], world, partitions, lambda: self.journals.get(name, []), lambda: 1
        )
        world.network.receive(lambda peer, message: pool.handlers[type(message)](peer, message))
        world.scope.spawn(pool.run(), "pool")

    # --- actions ---------------------------------------------------------------------------------------------------

    def spawn(self, name: str, procedure: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        machine = self.cluster.servers[name].machine
        assert machine is not None
        return self.cluster.loop.create_task(procedure, context=machine.context)

    def run(self, name: str, procedure: Coroutine[Any, Any, Any]) -> Any:
        task = self.spawn(name, procedure)
        self.cluster.run_until(task.done, LIMIT_NS)
        return task.result()

    def until(self, true: Callable[[], bool]) -> None:
        self.cluster.run_until(true, LIMIT_NS)

    def write(self, writer: str = "n1", mark: Mark | None = None) -> asyncio.Task[list[str]]:
        return self.spawn(
            writer, self.pools[writer].write(self.namespace, mark or self.mark, self.names, lambda: None)
        )

    def written(self, writer: str = "n1", mark: Mark | None = None) -> list[str]:
        task = self.write(writer, mark)
        self.until(task.done)
        return task.result()

    def send(self, sender: str, receiver: str, *messages: Message) -> None:
        machine, world = self.cluster.servers[sender].machine, self.cluster.servers[sender].world
        assert machine is not None and world is not None
        for message in messages:
            machine.call(world.network.send, receiver, message)

    # --- observations ----------------------------------------------------------------------------------------------

    def reported(self, kind: type[Event], server: str = "") -> list[Any]:
        """Events of one kind, in order."""
        return [s.event for s in self.cluster.events if type(s.event) is kind and server in ("", s.server)]

    def files(self, name: str) -> dict[str, bytearray]:
        return {path: file.data for path, file in self.cluster.servers[name].store.files.items()}

    def image(self, name: str) -> Namespace:
        """The newest image on a node's disk, loaded."""
        stored = self.pools[name].newest(lambda mark: True)
        assert stored is not None
        return stored[0]

    def equal(self, name: str) -> bool:
        loaded = self.image(name)
        return loaded.digest == self.namespace.digest == loaded.recompute_digest()


__all__ = ["AnyEvent", "PoolLab", "namespace_of"]


def partitions_of(lab: PoolLab, name: str) -> dict[str, bytes]:
    """Partitions of every image on a node's disk, by path."""
    return {path: bytes(data) for path, data in lab.files(name).items() if ".p" in path}


def ready(seed: int, files: int = 20_000) -> PoolLab:
    """n1 and n2 have an image; n3 was down."""
    lab = PoolLab(seed, files=files)
    lab.cluster.faults.crash("n3")
    assert lab.written() == ["n1", "n2"]
    lab.cluster.faults.restart("n3")
    lab.cluster.run_for(SECOND)
    return lab


def survey(lab: PoolLab) -> dict[int, list[str]]:
    """Servers by image, as n1 finds them; repairs of defects are ordered."""
    found = lab.run("n1", lab.pools["n1"].survey(lab.names))
    return {each.sn: each.holders for each in found}
