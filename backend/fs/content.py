"""The content of files through the control plane's smart client, a part at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator

from starlette.requests import ClientDisconnect

from backend.errors import Impossible, Malformed
from backend.fabrics.client import ContentCalls
from backend.running_cluster import Running


def files(lab: Running) -> ContentCalls:
    """Raises Impossible when the cluster has no data nodes."""
    if not any(node.kind == "data_node" for node in lab.fabric.picture.nodes.values()):
        raise Impossible("this cluster has no data nodes; start a new one with --data-nodes 3")
    return lab.client.files()


async def put(lab: Running, path: str, source: AsyncIterator[bytes], block_size: int) -> int:
    """Raises FsError."""
    try:
        return await files(lab).put(path, source, block_size)
    except ClientDisconnect:
        raise Malformed(
            f"the body of {path[:80]!r} was cut off; the file has the part that had arrived"
        ) from None


async def append(lab: Running, path: str, source: AsyncIterator[bytes], force: bool) -> int:
    """Raises FsError."""
    try:
        return await files(lab).append(path, source, force)
    except ClientDisconnect:
        raise Malformed(
            f"the body of {path[:80]!r} was cut off; the file has the part that had arrived"
        ) from None


async def get(lab: Running, path: str, start: int = 0) -> AsyncIterator[bytes]:
    """The parts of a file from byte `start` on. Errors are raised before the first part where that is possible. Raises FsError."""
    parts = files(lab).get(path, start)
    first = await anext(parts, b"")

    async def all_parts() -> AsyncIterator[bytes]:
        yield first
        async for part in parts:
            yield part

    return all_parts()
