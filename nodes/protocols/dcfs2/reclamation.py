"""Reclamation of the content of a directory that was deleted recursively, one dentry at a time (safety rule 12)."""

from __future__ import annotations

from nodes.config import MILLISECOND
from nodes.errors import FsError
from nodes.metadata.effects import Busy
from nodes.metadata.lookup import NamePlace
from nodes.metadata.operations import Delete
from nodes.metadata.plans import Call, Split, delete_of
from nodes.metadata.records import ReclaimRecord, RemoveRecord
from nodes.slots import CrossGroup, GroupHost
from nodes.units import OpId

PAUSE_NS = 20 * MILLISECOND
IDLE_NS = 200 * MILLISECOND
"""Pause while there is no orphan."""
AT_ONCE = 64
NOBODY = OpId("", 0)


async def reclaim(host: GroupHost, cross_group: CrossGroup) -> None:
    """Removes a few dentries of the oldest orphan, then pauses, as long as the tenure lasts."""
    while True:
        await host.world.clock.sleep(PAUSE_NS if host.namespace.tree.orphans else IDLE_NS)
        await host.can_commit()
        if host.draining or host.full:
            continue
        tree = host.namespace.tree
        for number in list(tree.orphans)[:1]:
            if not tree.inodes[number].entries:
                host.record(ReclaimRecord(host.now_ns(), number), lambda: None)
            elif not cross_group.drains:
                _reclaim_some(host, cross_group, number)


def _reclaim_some(host: GroupHost, cross_group: CrossGroup, number: int) -> None:
    tree = host.namespace.tree
    orphan = tree.inodes[number]
    for name, child in list((orphan.entries or {}).items())[:AT_ONCE]:
        if (number, name) in tree.locks.names:
            continue
        place = NamePlace(orphan, name, child, tree.inodes.get(child))
        try:
            plan = delete_of(tree, place, Delete("/", True), Call(NOBODY, 0, host.now_ns()))
        except (FsError, Busy):
            continue
        if isinstance(plan, RemoveRecord):
            host.record(plan, lambda: None)
        elif isinstance(plan, Split):
            alone = plan._replace(moves=False, coordinated=plan.coordinated and len(plan.parts) != 2)
            cross_group.begin(NOBODY, 0, alone, tree.moves)
