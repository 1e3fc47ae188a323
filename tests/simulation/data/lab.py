"""A simulated cluster with data nodes, and files whose content can be verified."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from random import Random
from typing import Any

from nodes.config import MILLISECOND, SECOND, DataConfig
from nodes.trace.block_events import BlockHealth
from tests.simulation.mams.lab import SETTLE_NS, Lab

LABS: list[DataLab] = []
"""Labs of the present test: at its end each must finish with every invariant green."""


class DataLab(Lab):
    """`nodes` data nodes dn1 …; a client ada that writes and a client eve that reads."""

    def __init__(self, seed: int, nodes: int = 3, **settings: Any):
        names = [f"dn{number}" for number in range(1, nodes + 1)]
        super().__init__(seed, data=DataConfig(nodes=names), **settings)
        self.data_nodes = names
        self.parts_given = 0
        self.pace_ms = 5
        """Time between two parts of a file that is written."""
        LABS.append(self)

    # --- files -----------------------------------------------------------------------------------------------------

    def begin_put(self, path: str, data: bytes, part: int = 50_000, **options: Any) -> asyncio.Task[int]:
        return self._begin(self.ada.files.put(path, self._parts("ada", data, part), **options))

    def _begin(self, procedure: Any) -> asyncio.Task[Any]:
        task = self.ada.begin(procedure)
        self.tasks.append(task)
        return task

    async def _parts(self, client: str, data: bytes, part: int) -> AsyncIterator[bytes]:
        """Yields slowly enough for acknowledgements to arrive between two parts."""
        world = self.cluster.servers[client].world
        assert world is not None
        self.parts_given = 0
        for start in range(0, len(data), part):
            yield data[start : start + part]
            self.parts_given += 1
            await world.clock.sleep(self.pace_ms * MILLISECOND)

    def put(self, path: str, data: bytes, **options: Any) -> None:
        task = self.begin_put(path, data, **options)
        self.until(task.done)
        assert task.result() == len(data)

    def append(self, path: str, data: bytes, client: Any = None, **options: Any) -> None:
        writer = self.ada if client is None else client
        parts = self._parts("ada" if writer is self.ada else "eve", data, 50_000)
        task = writer.begin(writer.files.append(path, parts, **options))
        self.until(task.done)
        assert task.result() == len(data)

    def begin_get(self, path: str, start: int = 0) -> asyncio.Task[bytes]:
        async def gather() -> bytes:
            return b"".join([data async for data in self.eve.files.get(path, start)])

        task: asyncio.Task[bytes] = self.eve.begin(gather())
        return task

    def get(self, path: str, start: int = 0) -> bytes:
        task = self.begin_get(path, start)
        self.until(task.done)
        return bytes(task.result())

    def until(self, true: Callable[[], bool], limit_ns: int = SETTLE_NS) -> None:
        self.cluster.run_until(true, limit_ns)

    # --- replicas --------------------------------------------------------------------------------------------------

    def replicas(self) -> dict[str, list[str]]:
        """Whole replicas by block file, on the disks of running data nodes."""
        found: dict[str, list[str]] = {}
        for name in self.data_nodes:
            server = self.cluster.servers[name]
            if server.process == "running":
                for path in server.store.files:
                    if path.endswith(".rep"):
                        found.setdefault(path, []).append(name)
        return found

    def files_on_disks(self) -> int:
        """Number of block files, whole or not."""
        paths = [path for name in self.data_nodes for path in self.cluster.servers[name].store.files]
        return sum(path.startswith("blocks/") for path in paths)

    def counts(self) -> list[int]:
        """Number of replicas of each block."""
        return sorted(len(names) for names in self.replicas().values())

    def health(self) -> dict[int, str]:
        """Last health of each block that the actives reported."""
        reported = [stamped.event for stamped in self.cluster.events if type(stamped.event) is BlockHealth]
        return {event.block: event.health for event in reported}

    def finish(self) -> None:
        super().finish()
        self.cluster.run_for(SECOND)


def content(seed: int, length: int) -> bytes:
    return Random(seed).randbytes(length)
