"""Where the blocks of a file lie, as any client learns it: from the namespace what there should be, from a metadata server which data nodes told that
they have it."""

from __future__ import annotations

from typing import Any

from backend.fs.service import files_of
from backend.lab import Lab
from nodes.blocks.block_map import Wanted, judge
from nodes.metadata.operations import Block, Contents
from nodes.wire.data_messages import WRITING, Location, Row


async def blocks(lab: Lab, path: str, first: int, limit: int) -> dict[str, Any]:
    """A page of a file's finished blocks. Raises FsError."""
    contents, places = await files_of(lab).places(path, first, limit)
    return {"path": path, **told(contents, places)}


def told(contents: Contents, places: list[list[Location]]) -> dict[str, Any]:
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
    """`found`: what data nodes told of it, in whatever state."""
    rows = {each.node: Row(wanted.number, each.stamp, each.length, each.state) for each in found}
    verdict = judge(Wanted(wanted.stamp, wanted.length, replication), rows)
    words = {
        **dict.fromkeys(verdict.good, "good"),
        **{name: "writing" if rows[name].state == WRITING else "stale" for name in verdict.stale},
        **dict.fromkeys(verdict.damaged, "damaged"),
    }
    return {
        "number": f"{wanted.number:016x}",
        "stamp": wanted.stamp,
        "length": wanted.length,
        "health": verdict.health(Wanted(wanted.stamp, wanted.length, replication)),
        "replicas": dict(sorted(words.items())),
    }
