"""Locations of a file's blocks, from two sources that every client has: the namespace lists the blocks, a metadata server knows which data nodes
reported them."""

from __future__ import annotations

from typing import Any

from backend.running_cluster import Running
from nodes.blocks.block_map import WantedBlock, judge
from nodes.metadata.operations import Block, Contents
from nodes.wire.data_messages import WRITING, Location, ReplicaRow


async def blocks(lab: Running, path: str, first: int, limit: int) -> dict[str, Any]:
    """A page of a file's finished blocks. Raises FsError."""
    contents, places = await lab.client.files().places(path, first, limit)
    return {"path": path, **reported(contents, places)}


def reported(contents: Contents, places: list[list[Location]]) -> dict[str, Any]:
    pairs = zip(contents.blocks, places, strict=True)
    return {
        "length": contents.length,
        "replication": contents.replication,
        "block_size": contents.block_size,
        "writing": contents.writing,
        "more": contents.more,
        "blocks": [block(each, found, contents.replication) for each, found in pairs],
    }


def block(wanted: Block, found: list[Location], replication: int) -> dict[str, Any]:
    """One block with the replicas that data nodes reported, in any state (`found`)."""
    rows = {each.node: ReplicaRow(wanted.number, each.stamp, each.length, each.state) for each in found}
    verdict = judge(WantedBlock(wanted.stamp, wanted.length, replication), rows)
    words = {
        **dict.fromkeys(verdict.good, "good"),
        **{name: "writing" if rows[name].state == WRITING else "stale" for name in verdict.stale},
        **dict.fromkeys(verdict.damaged, "damaged"),
    }
    return {
        "number": f"{wanted.number:016x}",
        "stamp": wanted.stamp,
        "length": wanted.length,
        "health": verdict.health(WantedBlock(wanted.stamp, wanted.length, replication)),
        "replicas": dict(sorted(words.items())),
    }
