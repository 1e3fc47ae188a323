"""Files in a cluster that marks checkpoints, and the files on its data nodes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from nodes.config import MILLISECOND, SECOND, DataConfig
from tests.simulation.recovery.lab import Checkpoints

NODES = ["dn1", "dn2", "dn3"]


def put(lab: Checkpoints, path: str, data: bytes) -> None:
    written(lab, lab.ada.files.put(path, parts_of(data)))


def append(lab: Checkpoints, path: str, data: bytes) -> None:
    written(lab, lab.ada.files.append(path, parts_of(data)))


async def parts_of(data: bytes) -> AsyncIterator[bytes]:
    yield data


async def allowed_parts(
    lab: Checkpoints, data: bytes, size: int, allowed: Callable[[], int]
) -> AsyncIterator[bytes]:
    """Parts of this size for eve to write; she waits as long as no further one is allowed."""
    world: Any = lab.cluster.servers["eve"].world
    for number in range(len(data) // size):
        while number >= allowed():
            await world.clock.sleep(20 * MILLISECOND)
        yield data[number * size : (number + 1) * size]


def written(lab: Checkpoints, writing: Coroutine[Any, Any, int]) -> None:
    task = lab.ada.begin(writing)
    lab.cluster.run_until(task.done, 60 * SECOND)
    task.result()


def get(lab: Checkpoints, path: str, client: Any = None) -> bytes:
    """Reads as eve, unless another client is given."""
    reader = lab.eve if client is None else client

    async def gather() -> bytes:
        return b"".join([data async for data in reader.files.get(path)])

    task = reader.begin(gather())
    lab.cluster.run_until(task.done, 60 * SECOND)
    return bytes(task.result())


def replicas(lab: Checkpoints) -> list[str]:
    """Whole replicas on all data nodes."""
    return [path for name in NODES for path in lab.cluster.servers[name].store.files if path.endswith(".rep")]


def with_data(seed: int, groups: int, **settings: Any) -> Checkpoints:
    return Checkpoints(seed, groups, 2, placement="random", data=DataConfig(nodes=NODES), **settings)


def disk(lab: Checkpoints, node: str, room: str) -> dict[str, bytes]:
    """Content of `blocks` or `aside` of a data node, by name."""
    files = lab.cluster.servers[node].store.files
    return {
        path.rpartition("/")[2]: bytes(file.data)
        for path, file in files.items()
        if path.startswith(room + "/")
    }
