"""Whether every block has its replicas once everything is healed, and no deleted file has any: lost ones are copied again, freed ones removed."""

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
    cluster: Stage, invariants: InvariantChecks, nodes: list[str], granted: dict[int, int], inodes: set[int]
) -> str:
    """A replica whose block was granted to a file that is gone, even after `FREED_NS`, in words; empty when there is none. Checkpoints may keep
    such blocks: then none is called leaked. `granted`: the file of each block; `inodes`: all files."""
    there = [name for name in nodes if not cluster.servers[name].gone]
    if invariants.has_checkpoint or not there:
        return ""
    freed = {block for block, inode in granted.items() if inode not in inodes}
    until_ns = cluster.now_ns + FREED_NS
    while (leaked := _leaked(invariants, there, freed)) and cluster.now_ns < until_ns:
        cluster.run_for(LOOK_NS)
    return leaked


def _leaked(invariants: InvariantChecks, nodes: list[str], freed: set[int]) -> str:
    return next(
        (
            f"{name} keeps block {block:016x}, whose file is gone"
            for name in nodes
            for block in invariants.replicas.of(name)
            if block in freed
        ),
        "",
    )


async def blocks_of(prober: Prober, path: str) -> set[int]:
    """The numbers of a file's finished blocks; none when it cannot be resolved."""
    known: set[int] = set()
    first, more = 0, True
    while more:
        try:
            contents: Any = (await prober.client.client.call(Open(path, first, LOCATED_MAX))).result
        except FsError:
            return set()
        known.update(block.number for block in contents.blocks)
        first, more = first + len(contents.blocks), contents.more
    return known
