"""Queries of the past: pages of events, pictures of a moment, timelines, journals."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from backend.errors import Malformed, NotThere, Unavailable
from backend.events.failovers import completed
from backend.events.journal import journal
from backend.events.timeline import timeline
from backend.evidence import evidence
from backend.picture import Picture
from backend.running_cluster import Running
from backend.store import queries
from backend.store.encoding import KINDS
from backend.store.queries import RunRow
from backend.suggestion import nearest
from backend.vocabulary import terms_of

COLUMNS_MOST = 2_000
FAILOVERS_MOST = 1_000


async def runs(lab: Running) -> list[RunRow]:
    """Runs, newest first, with the imported ones."""
    store = lab.store
    own = await queries.runs(store.reader, store.run, store.seq)
    kept = [row for row in own if row.run not in store.removed]
    return sorted([*kept, *store.imported.rows()], key=lambda row: row.run, reverse=True)


async def run_of(lab: Running, run: int) -> RunRow:
    """Raises NotThere."""
    if run in lab.store.removed:
        raise NotThere(f"run {run} was removed")
    imported = lab.store.imported.get(run)
    if imported is not None:
        return imported.row
    return await queries.run_named(lab.store.reader, run, lab.store.run, lab.store.seq)


async def events(
    lab: Running, run: int, after: int, before: int | None, limit: int, kinds: str, servers: str
) -> dict[str, Any]:
    row = await run_of(lab, run)
    wanted = words(kinds)
    for kind in wanted:
        if kind not in KINDS:
            raise Malformed(
                f"no event is called {kind[:40]!r}{nearest(kind, KINDS)}; there are {', '.join(sorted(KINDS))}"
            )
    await lab.store.flush()
    found = await queries.events(
        lab.store.reader_of(run), row.run, after, before or queries.LAST_SEQ, limit, wanted, words(servers)
    )
    left_out = 0
    if found and not wanted and not servers:
        left_out = found[-1][0] - max(after, row.first_seq - 1) - len(found)
    reported = queries.reported(found, terms_of(row.protocol))
    return {"events": reported, "next": found[-1][0] if found else after, "left_out": left_out}


def words(text: str) -> list[str]:
    return [word for word in re.split(r"[,\s]+", text) if word][:64]


async def picture(lab: Running, run: int, at_ns: int | None, last_seq: int | None = None) -> Picture:
    row, present = await run_of(lab, run), lab.fabric.picture
    until_ns = queries.LATEST_NS if at_ns is None else at_ns
    until_seq = queries.LAST_SEQ if last_seq is None else last_seq
    if row.live and until_ns >= present.at_ns and until_seq >= present.seq:
        return present
    await lab.store.flush()
    return await queries.picture_at(lab.store.reader_of(run), row, until_ns, until_seq)


async def read_timeline(
    lab: Running, run: int, from_ns: int | None, to_ns: int | None, buckets: int
) -> dict[str, Any]:
    row = await run_of(lab, run)
    await lab.store.flush()
    start = row.started_ns if from_ns is None else from_ns
    last_ns = lab.fabric.now_ns if row.live else await queries.last_ns(lab.store.reader_of(run), row)
    end = last_ns if to_ns is None else to_ns
    if end <= start:
        raise Malformed("to_ns must be later than from_ns")
    last = await picture(lab, run, None)
    homes = {server.name: server.group for server in last.servers.values()}
    return await timeline(lab.store.reader_of(run), row, homes, start, end, last_ns, buckets)


async def read_failovers(lab: Running, run: int) -> list[dict[str, Any]]:
    """The newest takeovers of a run, in order."""
    row = await run_of(lab, run)
    await lab.store.flush()
    return completed(await queries.newest_failovers(lab.store.reader_of(run), row.run, FAILOVERS_MOST))


async def read_evidence(lab: Running, group: str, epoch: int) -> dict[str, Any]:
    kept = lab.calls.of(group, epoch)
    if kept is None:
        raise NotThere(f"no calls are kept of a takeover of {group[:40]!r} in epoch {epoch}")
    await lab.store.flush()
    reader, last_seq = lab.store.reader, lab.store.seq
    names = [server.name for server in lab.fabric.picture.servers.values() if server.group == group]
    places = [call.sn for call in kept.acknowledged]
    found = await queries.of_groups(reader, min(places, default=1), max(places, default=0), last_seq, names)
    found += await queries.cuts(reader, last_seq, names)
    ordered = [stamped for _, stamped in sorted(found, key=lambda each: each[0])]
    return msgspec.structs.asdict(evidence(kept, names, ordered))


async def read_journal(
    lab: Running, run: int, group: str, from_sn: int, to_sn: int, at_ns: int | None
) -> dict[str, Any]:
    if not 0 <= to_sn - from_sn < COLUMNS_MOST:
        raise Malformed(f"from_sn to to_sn may span {COLUMNS_MOST} columns, forwards")
    await lab.store.flush()
    shown = await picture(lab, run, at_ns)
    group = group or next(iter(shown.groups), "")
    if group not in shown.groups:
        raise NotThere(f"no group is called {group[:40]!r}; there are {', '.join(shown.groups)}")
    return await journal(lab.store.reader_of(run), shown, group, from_sn, to_sn)


async def record(lab: Running, server: str, sn: int) -> dict[str, Any]:
    """Queries the server for one group of its journal."""
    if server not in lab.fabric.picture.servers:
        raise NotThere(
            f"no server is called {server[:40]!r}; there are {', '.join(lab.fabric.picture.servers)}"
        )
    if lab.fabric.state_of(server) != "running":
        raise Unavailable(f"{server} does not run: its journal cannot be read now")
    answer = await lab.fabric.ask(server, {"do": "group", "sn": sn})
    return {"server": server, "sn": sn, "group": answer.get("group", answer)}
