"""What must not last for ever: the hold of a dead client on a file."""

from __future__ import annotations

from nodes.config import MILLISECOND, SECOND
from nodes.errors import FsError
from nodes.explore.audit import Audited, Prober
from nodes.metadata.operations import Append, Create

TTL_MAX_MS = 20_000
"""The longest session of which the end is awaited."""
BLOCK_BYTES = 512
SERVICE_NS = 30 * SECOND


def check_holds_end(trial: Audited) -> None:
    """Checks that a file whose writer has died can be written again within some session lifetimes: a session ends by a record."""
    cluster, ttl_ms = trial.cluster, trial.config.session_ttl_ms
    if ttl_ms > TTL_MAX_MS:
        return
    until_ns = cluster.now_ns + SERVICE_NS
    number, path = 1, ""
    while not path:
        path = dead_writers_file(Prober(cluster, f"auditor-writer{number}"))
        number += 1
        if cluster.now_ns > until_ns:
            trial.fail("service", "hold", "no client keeps its session until it has written a file")
            return
    heir = Prober(cluster, "auditor-heir")
    until_ns = cluster.now_ns + 4 * ttl_ms * MILLISECOND + SERVICE_NS
    while not heir.run(appends(heir, path)):
        if cluster.now_ns > until_ns:
            trial.fail(
                "service", "hold", f"{path} is still held by a client that died {ttl_ms} ms times four ago"
            )
            return
        cluster.run_for(ttl_ms * MILLISECOND // 4)


def dead_writers_file(writer: Prober) -> str:
    """The path of a file that a dead client holds; empty when its session ended before the client did: while a log is full, short sessions end.

    Raises FsError for any other error.
    """
    path = f"/{writer.name}"
    try:
        writer.run(held_by(writer, path))
    except FsError as error:
        if error.name == "ETIMEDOUT":
            return ""
        raise
    writer.client.die()
    return path


async def held_by(prober: Prober, path: str) -> None:
    await prober.client.client.call(Create(path))
    await prober.client.client.call(Append(path, BLOCK_BYTES, False))


async def appends(prober: Prober, path: str) -> bool:
    """Whether the file is free; the caller holds it then. A session that ends meanwhile leaves that unknown. Raises FsError for any other error."""
    try:
        await prober.client.client.call(Append(path, BLOCK_BYTES, False))
    except FsError as error:
        if error.name in ("EBUSY", "ETIMEDOUT"):
            return False
        raise
    return True
