"""Counters of each group's servers, queried over the control network."""

from __future__ import annotations

import asyncio
from typing import TypeVar

import msgspec

from backend.errors import Unavailable
from backend.fabrics.watched_cluster import WatchedCluster
from nodes.kinds import KINDS
from nodes.metadata.pages import Counters

TIMEOUT_S = 0.5


class Replicated(msgspec.Struct):
    """Replication costs of a metadata server, journal node or bookie since its start."""

    messages: dict[str, int]
    """Messages by kind; `bytes` is by kind, too."""
    size: dict[str, int]
    records_per_batch: dict[str, int]
    """Number of batches by records per batch. A batch is a message in Multi-Paxos and a journal group elsewhere."""
    log_writes: int
    """Synced writes of the server's log."""
    operations: int
    """Client writes that the server carried out and answered."""


class Pipeline(msgspec.Struct):
    """Jobs and locks under way at one server of a family that has them (SAA §6)."""

    active: int
    """Jobs that are ready to be scheduled."""
    idle: int
    """Jobs that wait for disks, locks or a lease."""
    decided: int
    """Transactions that wait for the disks of all members."""
    waiting: int
    """Transactions that wait for locks."""
    read: int
    update: int
    write: int
    """Held locks, by mode."""


class CounterReport(msgspec.Struct):
    counters: Counters | None
    pipeline: Pipeline | None = None


class Counted(msgspec.Struct):
    groups: dict[str, Counters] = {}
    """Counters of each group's active. A group whose active does not answer is left out."""
    servers: dict[str, Replicated] = {}
    """Replication costs of servers and journal nodes. A server that does not answer is left out."""
    pipelines: dict[str, Pipeline] = {}
    """Jobs and locks by server, in families that have them."""


async def counted(fabric: WatchedCluster) -> Counted:
    """Queries the counters of each group's active, the jobs of all servers, and the replication costs of servers and journal nodes."""
    picture = fabric.picture
    leading = {group.name: group.active for group in picture.groups.values() if group.active}
    keepers = [node.name for node in picture.nodes.values() if KINDS[node.kind].counted]
    reported, spent = await asyncio.gather(
        answers(fabric, "counters", list(picture.servers), CounterReport),
        answers(fabric, "replication", [*picture.servers, *keepers], Replicated),
    )
    groups = {group: reported[name].counters for group, name in leading.items() if name in reported}
    return Counted(
        {group: counters for group, counters in groups.items() if counters is not None},
        spent,
        {name: each.pipeline for name, each in reported.items() if each.pipeline is not None},
    )


Answer = TypeVar("Answer", CounterReport, Replicated)


async def answers(
    fabric: WatchedCluster, question: str, names: list[str], kind: type[Answer]
) -> dict[str, Answer]:
    """Answers by server; servers that do not answer are left out."""
    reported = await asyncio.gather(*(answer(fabric, question, name, kind) for name in names))
    return {name: said for name, said in zip(names, reported, strict=True) if said is not None}


async def answer(fabric: WatchedCluster, question: str, name: str, kind: type[Answer]) -> Answer | None:
    if fabric.state_of(name) != "running":
        return None
    try:
        return msgspec.convert(await fabric.ask(name, {"do": question}, TIMEOUT_S), kind)
    except (Unavailable, msgspec.ValidationError):
        return None
