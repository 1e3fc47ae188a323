"""The audit of what is kept for checkpoints: a cluster whose disks are whole goes back to its oldest complete one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nodes.config import SECOND
from nodes.explore.audit import Audited
from nodes.explore.deeds import ask_checkpoint
from nodes.trace.checkpoints import CheckpointOutcome, TakenBack
from nodes.trace.events import Stamped

COMPLETE = "complete"
TRIES = 4
"""A server that slept copies what its checkpoints need after it is in step: until then a recovery may be refused."""
AGAIN_NS = 5 * SECOND
ARRIVES_NS = 20 * SECOND
"""A recovery is answered, and the first server rolls back, within this time."""


def oldest_complete(events: Sequence[Stamped]) -> str:
    """The first checkpoint whose outcome was reported as complete; no recovery sets it aside. Empty when there is none."""
    outcomes = (each.event for each in events if type(each.event) is CheckpointOutcome)
    complete = {each.name: each.stamp_ns for each in outcomes if each.outcome == COMPLETE}
    return min(complete, key=lambda name: complete[name], default="")


def go_back(trial: Audited, events: Sequence[Stamped], settles: Callable[[], bool]) -> bool:
    """Asks for a recovery to the oldest complete checkpoint, and again for a while when it is refused. Returns whether the cluster has gone back
    and come to rest. Raises FaultUnsupported."""
    name, cluster = oldest_complete(events), trial.cluster
    before = len(events)

    def arrived() -> bool:
        return any(type(each.event) is TakenBack for each in events[before:])

    for _ in range(TRIES):
        ask_checkpoint(cluster, "recover", name)
        cluster.reaches(cluster.now_ns + ARRIVES_NS, lambda: arrived() or not cluster.unanswered)
        if cluster.reaches(cluster.now_ns + AGAIN_NS, arrived):
            return settles()
    trial.fail("service", "recover", f"no disk is damaged, and no recovery to {name} begins")
    return False
