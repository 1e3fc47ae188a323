"""Whether every block has its replicas once everything is healed, and no other block has any: lost ones are copied again, freed ones removed."""

from __future__ import annotations

from typing import Any

from nodes.config import SECOND
from nodes.errors import FsError
from nodes.explore.prober import Prober
from nodes.explore.stage import Stage
from nodes.invariants.registry import InvariantChecks
from nodes.metadata.operations import Open
from nodes.wire.data_messages import FINAL, LOCATED_MAX

COPIED_NS = 120 * SECOND
"""Time in which a healed cluster must have copied what a data node has lost."""
FREED_NS = 120 * SECOND
"""Time in which it must have removed the replicas of freed blocks."""
LOOK_NS = SECOND


def lacking_replicas(cluster: Stage, prober: Prober, nodes: list[str], paths: list[str]) -> str:
    """A block that has too few replicas even after `COPIED_NS`, in words; empty when there is none."""
    there = sum(not cluster.servers[name].gone for name in nodes)
    if not there:
        return ""
    until_ns, lacking = cluster.now_ns + COPIED_NS, ""
    for path in paths:
        while (lacking := prober.run(lacking_of(prober, path, there))) and cluster.now_ns < until_ns:
            cluster.run_for(LOOK_NS)
        if lacking:
            return lacking
    return ""


async def lacking_of(prober: Prober, path: str, nodes: int) -> str:
    first, more = 0, True
    while more:
        try:
            contents, places = await prober.client.files.places(path, first, LOCATED_MAX)
        except FsError as error:
            return f"{path}: {error}"
        wanted = min(contents.replication, nodes)
        for block, locations in zip(contents.blocks, places, strict=True):
            right = (block.stamp, block.length, FINAL)
            whole = sum((each.stamp, each.length, each.state) == right for each in locations)
            if block.length and whole < wanted:
                return f"block {block.number:016x} of {path} has {whole} of {wanted} replicas"
        first, more = first + len(contents.blocks), contents.more
    return ""


def leaked_replicas(
    cluster: Stage, invariants: InvariantChecks, prober: Prober, nodes: list[str], paths: list[str]
) -> str:
    """A replica whose block belongs to no file even after `FREED_NS`, in words; empty when there is none. Checkpoints may keep freed blocks, and a
    file that is being written has blocks that no reader is shown: then none is called leaked."""
    there = [name for name in nodes if not cluster.servers[name].gone]
    known = None if invariants.has_checkpoint or not there else prober.run(blocks_of(prober, paths))
    if known is None:
        return ""
    until_ns = cluster.now_ns + FREED_NS
    while (leaked := _leaked(invariants, there, known)) and cluster.now_ns < until_ns:
        cluster.run_for(LOOK_NS)
    return leaked


def _leaked(invariants: InvariantChecks, nodes: list[str], known: set[int]) -> str:
    return next(
        (
            f"{name} keeps block {block:016x}, which belongs to no file"
            for name in nodes
            for block in invariants.replicas.of(name)
            if block not in known
        ),
        "",
    )


async def blocks_of(prober: Prober, paths: list[str]) -> set[int] | None:
    """The numbers of all blocks of these files; None when one is being written or cannot be read."""
    known: set[int] = set()
    for path in paths:
        first, more = 0, True
        while more:
            try:
                contents: Any = (await prober.client.client.call(Open(path, first, LOCATED_MAX))).result
            except FsError:
                return None
            if contents.writing:
                return None
            known.update(block.number for block in contents.blocks)
            first, more = first + len(contents.blocks), contents.more
    return known
