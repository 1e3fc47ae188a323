"""Export of a run to one file, import of such a file as a further past run, and removal of a past run."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator

import msgspec
from starlette.requests import ClientDisconnect

from backend.errors import Impossible, LabError, Malformed, Unavailable, reason_of
from backend.events.service import run_of
from backend.run_files.database import RunDatabase
from backend.run_files.pages import lines
from backend.run_files.records import SUFFIX, RunFileDamaged, RunHeader
from backend.run_files.writer import RunFileWriter
from backend.running_cluster import Running
from backend.store.queries import RunRow
from backend.store.store import wall
from backend.version import version

FREE_BYTES = 256 << 20
"""What an import leaves free on the disk."""


async def export(lab: Running, run: int) -> tuple[str, AsyncIterator[bytes]]:
    """A name for the file, and its bytes. Raises NotThere."""
    await lab.store.flush()
    row = await run_of(lab, run)
    header = header_of(lab, row)

    async def parts() -> AsyncIterator[bytes]:
        writer = RunFileWriter()
        yield writer.part([header])
        async for some in lines(lab.store.reader_of(row.run), row):
            yield await asyncio.to_thread(writer.part, some)
        await run_of(lab, run)  # A file without the rows that were removed meanwhile must not look whole.
        yield writer.end()

    return f"{header.cluster.cluster}-run-{header.run}{SUFFIX}", parts()


def header_of(lab: Running, row: RunRow) -> RunHeader:
    """That of the file in which the run came, if it was imported."""
    imported = lab.store.imported.get(row.run)
    if imported is not None:
        return msgspec.json.decode(imported.header, type=RunHeader)
    now = wall()
    return RunHeader(
        version(), now, row.started_at, row.ended_at or now, row.run, row.started_ns, row.first_seq,
        row.last_seq, lab.home.file.cluster,
    )  # fmt: skip


async def restore(lab: Running, source: AsyncIterator[bytes]) -> RunRow:
    """Stores a file as a further past run, whole or not at all. Raises Malformed, Impossible and Unavailable."""
    store = lab.store
    run = max(store.run, store.imported.newest, *store.removed) + 1
    try:
        async with store.imported.adding(run) as path:
            database = await asyncio.to_thread(RunDatabase, path, run)
            try:
                async for data in source:
                    await asyncio.to_thread(database.take, data)
                    if store.imported.free_bytes() < FREE_BYTES:
                        raise Impossible(
                            f"less than {FREE_BYTES >> 20} MiB would be free on the disk: make room first"
                        )
                await asyncio.to_thread(database.finish, wall())
            finally:
                database.close()
    except RunFileDamaged as error:
        raise Malformed(f"the run cannot be opened: {error}") from None
    except ClientDisconnect:
        raise Malformed("the file was cut off on its way, or has more bytes than may be sent") from None
    except (sqlite3.Error, OSError) as error:
        why = reason_of(error) if isinstance(error, OSError) else error
        raise Unavailable(f"the run cannot be stored: {why}") from None
    imported = store.imported.get(run)
    if imported is None:
        raise LabError("the run was removed at once")
    return imported.row


async def remove(lab: Running, run: int) -> RunRow:
    """Removes a past run with all that is kept of it. Raises NotThere, Impossible and Unavailable."""
    row = await run_of(lab, run)
    if row.live:
        raise Impossible(f"run {run} is going on: it can be removed when the cluster has begun another")
    await lab.store.remove(run)
    return row
