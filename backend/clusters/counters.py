"""What the servers of each group count, asked of them over the control network."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from backend.errors import Unavailable
from nodes.families import Family
from nodes.metadata.pages import Counters

if TYPE_CHECKING:
    from backend.fabrics.fabric import ClusterFabric

TIMEOUT_S = 0.5


class Replicated(msgspec.Struct):
    """What one life of a server sent to the others of its group, as far as its family counts that."""

    messages: dict[str, int]
    """By kind; so are the octets."""
    octets: dict[str, int]
    records_per_message: dict[str, int]
    """How many messages carried so many records."""
    log_writes: int
    """Synced writes of its log."""
    operations: int
    """Clients' writes that it answered as the one who leads."""


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
    replication: Replicated | None = None
    pipeline: Pipeline | None = None


class Counted(msgspec.Struct):
    groups: dict[str, Counters] = {}
    """A group whose active does not answer now is left out."""
    servers: dict[str, Replicated] = {}
    """Who does not answer, or does not count, is left out."""
    pipelines: dict[str, Pipeline] = {}


async def counted(fabric: ClusterFabric, family: Family) -> Counted:
    """Of the servers that lead; of the others as well where the family counts."""
    picture = fabric.picture
    leading = {group.name: group.active for group in picture.groups.values() if group.active}
    told = await all_told(fabric, list(picture.servers) if family.counts else list(leading.values()))
    groups = {group: told[name].counters for group, name in leading.items() if name in told}
    return Counted(
        {group: counters for group, counters in groups.items() if counters is not None},
        {name: each.replication for name, each in told.items() if each.replication is not None},
        {name: each.pipeline for name, each in told.items() if each.pipeline is not None},
    )


async def all_told(fabric: ClusterFabric, names: list[str]) -> dict[str, Told]:
    answers = await asyncio.gather(*(told_by(fabric, name) for name in names))
    return {name: told for name, told in zip(names, answers, strict=True) if told is not None}


async def told_by(fabric: ClusterFabric, name: str) -> Told | None:
    if fabric.state_of(name) != "running":
        return None
    try:
        return msgspec.convert(await fabric.ask(name, {"do": "counters"}, TIMEOUT_S), Told)
    except (Unavailable, msgspec.ValidationError):
        return None
