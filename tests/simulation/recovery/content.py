"""Files in a cluster that marks checkpoints, and the files on its data nodes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine
from typing import Any

from nodes.config import SECOND, DataConfig
from tests.simulation.recovery.lab import Checkpoints

NODES = ["dn1", "dn2", "dn3"]


def put(lab: Checkpoints, path: str, data: bytes) -> None:
    written(lab, lab.ada.files.put(path, parts_of(data)))


def append(lab: Checkpoints, path: str, data: bytes) -> None:
    written(lab, lab.ada.files.append(path, parts_of(data)))


async def parts_of(data: bytes) -> AsyncIterator[bytes]:
    yield data


def written(lab: Checkpoints, writing: Coroutine[Any, Any, int]) -> None:
    task = lab.ada.begin(writing)
    lab.cluster.run_until(task.done, 60 * SECOND)
    task.result()


def get(lab: Checkpoints, path: str) -> bytes:
    async def gather() -> bytes:
        return b"".join([data async for data in lab.eve.files.get(path)])

    task = lab.eve.begin(gather())
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
