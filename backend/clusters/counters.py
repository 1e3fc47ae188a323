"""What the active of each group counts, asked of it over the control network."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from backend.errors import Unavailable
from nodes.metadata.pages import Counters

if TYPE_CHECKING:
    from backend.fabrics.fabric import ClusterFabric

TIMEOUT_S = 0.5


class Told(msgspec.Struct):
    counters: Counters | None


async def counted(fabric: ClusterFabric) -> dict[str, Counters]:
    """By group; a group whose active does not answer now is left out."""
    groups = fabric.picture.groups.values()
    actives = {group.name: group.active for group in groups if group.active}
    told = await asyncio.gather(*(of_active(fabric, active) for active in actives.values()))
    return {name: counters for name, counters in zip(actives, told, strict=True) if counters is not None}


async def of_active(fabric: ClusterFabric, active: str) -> Counters | None:
    if fabric.state_of(active) != "running":
        return None
    try:
        answer = await fabric.ask(active, {"do": "counters"}, TIMEOUT_S)
        return msgspec.convert(answer, Told).counters
    except (Unavailable, msgspec.ValidationError):
        return None
