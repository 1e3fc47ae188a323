"""The audit of what is kept for checkpoints: a cluster whose disks are whole goes back to its oldest complete one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from nodes.config import SECOND
from nodes.explore.audit import Audited
from nodes.explore.deeds import ask_checkpoint
from nodes.trace.checkpoints import CheckpointOutcome, TakenBack
from nodes.trace.events import Stamped

COMPLETE = "complete"
TRIES = 3
"""Another recovery, or a member that has just come, may be in the way."""
AGAIN_NS = 5 * SECOND
ARRIVES_NS = 20 * SECOND
"""A recovery is answered, and the first server rolls back, within this time."""
LOST = "no whole image"
"""Part of the refusal of a server whose journal holds the barrier: on a whole disk its image must be there. A server may also lack the journal,
after it has been renewed by a newer image; that is no fault."""


def oldest_complete(events: Sequence[Stamped]) -> str:
    """The first checkpoint whose outcome was reported as complete; no recovery sets it aside. Empty when there is none."""
    outcomes = (each.event for each in events if type(each.event) is CheckpointOutcome)
    complete = {each.name: each.stamp_ns for each in outcomes if each.outcome == COMPLETE}
    return min(complete, key=lambda name: complete[name], default="")


def restore_oldest(trial: Audited, events: Sequence[Stamped]) -> bool:
    """Asks for a recovery to the oldest complete checkpoint, and again for a while when it is refused. Returns whether it began. Raises
    FaultUnsupported."""
    name, cluster = oldest_complete(events), trial.cluster
    before = len(events)

    def arrived() -> bool:
        return any(type(each.event) is TakenBack for each in events[before:])

    for _ in range(TRIES):
        asked = ask_checkpoint(cluster, "recover", name)
        cluster.reaches(cluster.now_ns + ARRIVES_NS, lambda: arrived() or not cluster.unanswered)
        if cluster.reaches(cluster.now_ns + AGAIN_NS, arrived):
            return True
        refused = refusal_in(asked)
        if LOST in refused:
            what = f"no disk is damaged, and a recovery to {name} is refused: {refused}"
            trial.fail("service", "recover", what)
            break
    return False


def refusal_in(asked: Any) -> str:
    """The reason in the answer, as far as the stage reports answers."""
    answered = (
        isinstance(asked, asyncio.Task) and asked.done() and not (asked.cancelled() or asked.exception())
    )
    return str(asked.result().get("refused", "")) if answered else ""
