"""Reading what was: pages of events, pictures of a moment, timelines, journals."""

from __future__ import annotations

import re
from typing import Any

from backend.clusters.picture import Picture
from backend.errors import Malformed, NotThere, Unavailable
from backend.events.journal import journal
from backend.events.timeline import timeline
from backend.lab import Lab
from backend.store import queries
from backend.store.encoding import KINDS
from backend.store.queries import RunRow
from nodes.real.clock import monotonic_ns

COLUMNS_MOST = 2_000
LAST_SEQ = (1 << 62) - 1


async def run_of(lab: Lab, run: int) -> RunRow:
    return await queries.run_named(lab.store.reader, run, lab.store.run, lab.store.seq)


async def events(
    lab: Lab, run: int, after: int, before: int | None, limit: int, kinds: str, servers: str
) -> dict[str, Any]:
    row = await run_of(lab, run)
    wanted = words(kinds)
    for kind in wanted:
        if kind not in KINDS:
            raise Malformed(f"no event is called {kind[:40]!r}; there are {', '.join(sorted(KINDS))}")
    await lab.store.flush()
    found = await queries.events(
        lab.store.reader, row.run, after, before or LAST_SEQ, limit, wanted, words(servers)
    )
    left_out = 0
    if found and not wanted and not servers:
        left_out = found[-1][0] - max(after, row.first_seq - 1) - len(found)
    return {"events": queries.told(found), "next": found[-1][0] if found else after, "left_out": left_out}


def words(text: str) -> list[str]:
    return [word for word in re.split(r"[,\s]+", text) if word][:64]


async def picture(lab: Lab, run: int, at_ns: int | None) -> Picture:
    row = await run_of(lab, run)
    if row.live and (at_ns is None or at_ns >= lab.fabric.picture.at_ns):
        return lab.fabric.picture
    await lab.store.flush()
    return await queries.picture_at(lab.store.reader, row, queries.LATEST_NS if at_ns is None else at_ns)


async def read_timeline(
    lab: Lab, run: int, from_ns: int | None, to_ns: int | None, buckets: int
) -> dict[str, Any]:
    row = await run_of(lab, run)
    await lab.store.flush()
    start = row.started_ns if from_ns is None else from_ns
    end = (
        (monotonic_ns() if row.live else await queries.last_ns(lab.store.reader, row))
        if to_ns is None
        else to_ns
    )
    if end <= start:
        raise Malformed("to_ns must be later than from_ns")
    last = await picture(lab, run, None)
    homes = {server.name: server.group for server in last.servers.values()}
    return await timeline(lab.store.reader, row, homes, start, end, buckets)


async def read_journal(
    lab: Lab, run: int, group: str, from_sn: int, to_sn: int, at_ns: int | None
) -> dict[str, Any]:
    if not 0 <= to_sn - from_sn < COLUMNS_MOST:
        raise Malformed(f"from_sn to to_sn may span {COLUMNS_MOST} columns, forwards")
    await lab.store.flush()
    shown = await picture(lab, run, at_ns)
    group = group or next(iter(shown.groups), "")
    if group not in shown.groups:
        raise NotThere(f"no group is called {group[:40]!r}; there are {', '.join(shown.groups)}")
    return await journal(lab.store.reader, shown, group, from_sn, to_sn)


async def record(lab: Lab, server: str, sn: int) -> dict[str, Any]:
    """Asked of the server itself, which reads its own journal."""
    if server not in lab.fabric.picture.servers:
        raise NotThere(
            f"no server is called {server[:40]!r}; there are {', '.join(lab.fabric.picture.servers)}"
        )
    if lab.fabric.state_of(server) != "running":
        raise Unavailable(f"{server} does not run: its journal cannot be read now")
    answer = await lab.fabric.ask(server, {"do": "group", "sn": sn})
    return {"server": server, "sn": sn, "group": answer.get("group", answer)}
