"""State, invariants and the newest events of a cluster: from its control plane, or from the event store that one has left."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import aiosqlite
import msgspec

from backend import remote_requests
from backend.clusters import views
from backend.errors import Malformed
from backend.store import queries
from backend.store.encoding import RARE
from backend.store.readers import ReadConnections
from backend.store.schema import FORMAT, MAGIC, pragma
from backend.vocabulary import terms_of
from nodes.format_number import of_other_version

EVENTS = 2_000
Members = dict[str, bytes]


def from_control_plane(port: int) -> Members:
    """Raises LabError."""
    status = remote_requests.ask(port, "GET", "/api/status")
    cluster = remote_requests.ask(port, "GET", "/api/cluster")
    return {
        "status.json": document(status),
        "invariants.json": document(cluster["invariants"]),
        "events.jsonl": lines(newest_events(port)),
    }


def newest_events(port: int) -> list[dict[str, Any]]:
    """In order, from as many runs as it takes."""
    found: list[dict[str, Any]] = []
    for run in remote_requests.ask(port, "GET", "/api/runs"):
        if run["origin"]:
            continue
        lacking = EVENTS - len(found)
        after = max(run["first_seq"] - 1, run["last_seq"] - lacking)
        query = urlencode({"after": after, "limit": lacking})
        found = remote_requests.ask(port, "GET", f"/api/runs/{run['run']}/events?{query}")["events"] + found
        if len(found) >= EVENTS:
            break
    return found


async def from_store(path: Path) -> Members:
    """The state at the end of the newest run takes the place of the status. Raises Malformed when the store cannot be read."""
    async with reading(path) as reader:
        runs = await queries.runs(reader, 0, 0)
        picture = await queries.last_picture(reader)
        events = await queries.last(reader, EVENTS)
    state = views.picture(picture)
    terms = terms_of(runs[0].protocol if runs else "")
    return {
        "state.json": document(state),
        "invariants.json": document(state["invariants"]),
        "events.jsonl": lines(queries.reported(events, terms)),
    }


async def story(path: Path) -> bytes:
    """The newest events that the load does not make. Those of all kinds cover a few seconds under load; these reach back to the incident.

    Raises Malformed when the store cannot be read.
    """
    async with reading(path) as reader:
        runs = await queries.runs(reader, 0, 0)
        found = await queries.newest(reader, RARE, queries.LAST_SEQ, EVENTS)
    return lines(queries.reported(found, terms_of(runs[0].protocol if runs else "")))


@contextlib.asynccontextmanager
async def reading(path: Path) -> AsyncIterator[ReadConnections]:
    """The store, opened so that nothing in it can be changed. Raises Malformed when it cannot be read."""
    try:
        connection = await aiosqlite.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            found = await pragma(connection, "application_id"), await pragma(connection, "user_version")
            if found != (MAGIC, FORMAT):
                raise Malformed(f"{path} {of_other_version(found[1], FORMAT)}")
            yield ReadConnections([connection])
        finally:
            await connection.close()
    except (sqlite3.Error, msgspec.MsgspecError) as error:
        raise Malformed(f"cannot read {path}: {error}") from None


def document(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def lines(values: Iterable[Any]) -> bytes:
    return "".join(f"{json.dumps(value)}\n" for value in values).encode()
