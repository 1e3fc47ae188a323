"""What the servers of each group count, asked of them over the control network."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

import msgspec

from backend.errors import Unavailable
from nodes.metadata.pages import Counters

if TYPE_CHECKING:
    from backend.fabrics.fabric import ClusterFabric

TIMEOUT_S = 0.5


class Replicated(msgspec.Struct):
    """What one life of a metadata server, journal node or bookie spent on replication."""

    messages: dict[str, int]
    """By kind; so are the octets."""
    octets: dict[str, int]
    records_per_batch: dict[str, int]
    """How many batches, messages in Multi-Paxos and journal groups elsewhere, had so many records."""
    log_writes: int
    """Synced writes of its log."""
    operations: int
    """Clients' writes that were carried out and that it answered."""


class Pipeline(msgspec.Struct):
    """What is under way at one server whose family has jobs and locks (SAA §6)."""

    active: int
    """Jobs that wait for nothing but to be scheduled."""
    idle: int
    """Jobs that wait for disks, locks or a lease."""
    decided: int
    """Transactions that wait for the disks of all."""
    waiting: int
    """Transactions that wait for locks."""
    read: int
    update: int
    write: int
    """Locks held, by mode."""


class Told(msgspec.Struct):
    counters: Counters | None
    pipeline: Pipeline | None = None


class Counted(msgspec.Struct):
    groups: dict[str, Counters] = {}
    """A group whose active does not answer now is left out."""
    servers: dict[str, Replicated] = {}
    """Journal nodes too; who does not answer is left out."""
    pipelines: dict[str, Pipeline] = {}
    """Of families with jobs and locks."""


async def counted(fabric: ClusterFabric) -> Counted:
    """Of the servers that lead, their groups; of all servers, what is under way; of them and journal nodes, what they spent."""
    picture = fabric.picture
    leading = {group.name: group.active for group in picture.groups.values() if group.active}
    told, spent = await asyncio.gather(
        answers(fabric, "counters", list(picture.servers), Told),
        answers(fabric, "replication", [*picture.servers, *picture.journal_nodes], Replicated),
    )
    groups = {group: told[name].counters for group, name in leading.items() if name in told}
    return Counted(
        {group: counters for group, counters in groups.items() if counters is not None},
        spent,
        {name: each.pipeline for name, each in told.items() if each.pipeline is not None},
    )


Answer = TypeVar("Answer", Told, Replicated)


async def answers(
    fabric: ClusterFabric, question: str, names: list[str], kind: type[Answer]
) -> dict[str, Answer]:
    """Of those who answer."""
    told = await asyncio.gather(*(answer(fabric, question, name, kind) for name in names))
    return {name: said for name, said in zip(names, told, strict=True) if said is not None}


async def answer(fabric: ClusterFabric, question: str, name: str, kind: type[Answer]) -> Answer | None:
    if fabric.state_of(name) != "running":
        return None
    try:
        return msgspec.convert(await fabric.ask(name, {"do": question}, TIMEOUT_S), kind)
    except (Unavailable, msgspec.ValidationError):
        return None
