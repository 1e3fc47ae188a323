"""Seeded bugs of checkpoints: each schedule holds without its mutation, and violates an invariant with it."""

from __future__ import annotations

from collections.abc import Callable

from nodes.config import SECOND
from nodes.metadata.operations import Create, Mkdir
from tests.simulation.dcfs2.schedules import held, home
from tests.simulation.recovery.lab import Checkpoints


def barrier_inside_operation(lab: Checkpoints) -> None:
    """A checkpoint is marked while one group waits for the other's decision on an operation."""
    lab.ada.call(Mkdir("/a"))
    coordinator = home(lab, "/a")
    answers = held(lab, "CommitReq", lab.servers(coordinator))
    for number in range(40):
        call = lab.ada.spawn(Create(f"/a/f{number}"))
        lab.calls.append(call)
        lab.cluster.run_until(lambda call=call: bool(answers.messages) or call.done(), 10 * SECOND)  # type: ignore[misc]
        if answers.messages:
            break
    task = lab.begin_mark("one")
    lab.run_ms(3_000)
    answers.release()
    lab.cluster.run_until(lambda: task.done() and all(call.done() for call in lab.calls), 60 * SECOND)
    lab.finish()


SCHEDULES: dict[str, Callable[[Checkpoints], None]] = {"barrier_inside_operation": barrier_inside_operation}
