"""Whether every block has its replicas once everything is healed: lost ones are copied again."""

from __future__ import annotations

from nodes.config import SECOND
from nodes.errors import FsError
from nodes.explore.prober import Prober
from nodes.explore.stage import Stage
from nodes.wire.data_messages import FINAL, LOCATED_MAX

COPIED_NS = 120 * SECOND
"""Time in which a healed cluster must have copied what a data node has lost."""
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
