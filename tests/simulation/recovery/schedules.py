"""The counterexamples of rules 13 and 14, by the name of the switch. Each ends where the damage is done if the hole is open."""

from __future__ import annotations

from collections.abc import Callable

from nodes.config import SECOND
from nodes.metadata.operations import Mkdir
from nodes.metadata_server.checkpoints.messages import WriteBarrier
from tests.simulation.recovery.lab import Checkpoints


def one_phase_barrier(lab: Checkpoints) -> None:
    """One group has written its barrier and begins operations with another that has not."""
    lab.fill("a", 4)
    held = lab.cluster.hold(lambda sender, receiver, message: type(message) is WriteBarrier)
    task = lab.begin_mark("one")
    lab.cluster.run_until(lambda: bool(held.messages) or task.done(), 10 * SECOND)
    calls = [lab.eve.spawn(Mkdir(f"/a/d{number}/x")) for number in range(4)]
    lab.run_ms(100)
    held.release()
    lab.cluster.run_until(lambda: task.done() and all(call.done() for call in calls), 60 * SECOND)


def checkpoint_unpinned(lab: Checkpoints) -> None:
    """Newer images are written, and the journals below them are pruned; then the cluster must roll back."""
    lab.fill("a", 4)
    lab.mark("one")
    for number in range(120):
        lab.ada.call(Mkdir(f"/more{number}"))
    lab.run_ms(8_000)
    for number in range(60):
        lab.ada.call(Mkdir(f"/yet-more{number}"))
    lab.run_ms(8_000)
    lab.ask({"do": "recover", "name": "one"})
    lab.run_ms(5_000)


Schedule = Callable[[Checkpoints], None]
SCHEDULES: dict[str, tuple[Schedule, int]] = {
    "one_phase_barrier": (one_phase_barrier, 2),
    "checkpoint_unpinned": (checkpoint_unpinned, 1),
}
"""(schedule, groups) by switch."""
