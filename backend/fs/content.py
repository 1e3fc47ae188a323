"""The content of files through the control plane's smart client, a part at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator

from starlette.requests import ClientDisconnect

from backend.errors import Impossible, Malformed
from backend.fs.service import files_of
from backend.lab import Lab
from nodes.client.files import FileClient


def files(lab: Lab) -> FileClient:
    """Raises Impossible when the cluster has nowhere to keep blocks."""
    if not lab.fabric.picture.data_nodes:
        raise Impossible("this cluster has no data nodes; start a new one with --data-nodes 3")
    return files_of(lab)


async def put(lab: Lab, path: str, source: AsyncIterator[bytes], block_size: int) -> int:
    """Raises FsError."""
    try:
        return await files(lab).put(path, source, block_size)
    except ClientDisconnect:
        raise Malformed(
            f"the body of {path[:80]!r} was cut off; what had come by then is in the file"
        ) from None


async def append(lab: Lab, path: str, source: AsyncIterator[bytes], force: bool) -> int:
    """Raises FsError."""
    try:
        return await files(lab).append(path, source, force)
    except ClientDisconnect:
        raise Malformed(
            f"the body of {path[:80]!r} was cut off; what had come by then is in the file"
        ) from None


async def get(lab: Lab, path: str) -> AsyncIterator[bytes]:
    """The parts of a file; its errors are raised before the first of them where that is possible. Raises FsError."""
    parts = files(lab).get(path)
    first = await anext(parts, b"")

    async def all_parts() -> AsyncIterator[bytes]:
        yield first
        async for part in parts:
            yield part

    return all_parts()
