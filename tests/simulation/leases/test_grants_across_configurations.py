"""An elected server removes a member that granted the old active its lease, and loses the lock: the next one
asks other members (safety rule 26)."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.config import Timing
from nodes.trace.events import Configured, Stamped, StepTaken
from tests.simulation.leases.lab import Lab

GRANT_MS = 1_000
OVER_MS = 1_160
"""A grant with its margin is over."""
TIMING = Timing(ack_timeout_ms=100, grant_ms=GRANT_MS, client_timeout_ms=20, draw_wait_ms=10)


def draws(changes: list[Any]) -> bool:
    return any("/draws/" in change.path for change in changes)


class Removal(Lab):
    """One member grants the old active its lease, promises, and dies. The other is elected and removes it."""

    def __init__(self, seed: int, loses_the_lock: bool):
        super().__init__(seed, detection="members", image_every=0, min_in_step=1, timing=TIMING)
        self.successor, self.grants = self.others
        self.loses_the_lock = loses_the_lock
        self.promised = self.removed = False

    def play(self) -> None:
        self.await_heartbeat()
        self.faults.cut(self.old, self.successor)
        self.run_ms(OVER_MS)
        assert self.leader() == self.old
        self.draw = self.cluster.hold_write(self.grants, draws)
        self.cluster.on_event(self.on_event)
        self.isolate()
        self.faults.expire_session(self.old)
        self.read_while_written(2 * GRANT_MS, 10)
        assert self.removed
        self.finish()

    def on_event(self, stamped: Stamped) -> None:
        event, loop, now_ns = stamped.event, self.cluster.loop, self.cluster.now_ns
        recovers = type(event) is StepTaken and (event.procedure, event.step) == ("upgrade", "3b")
        if recovers and not self.promised:
            self.promised = True
            loop.at(now_ns, self.end_of_the_member)
        elif type(event) is Configured and event.members == [self.successor] and not self.removed:
            self.removed = True
            if self.loses_the_lock:
                loop.at(now_ns, self.lose_the_lock)

    def end_of_the_member(self) -> None:
        self.draw.over = True
        self.faults.crash(self.grants)
        self.faults.expire_session(self.grants)

    def lose_the_lock(self) -> None:
        self.faults.take_lock("g1")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("loses_the_lock", [True, False])
def test_grants_are_outlived_before_a_member_is_removed(seed: int, loses_the_lock: bool) -> None:
    """The old active answers as long as the removed member's last grant runs."""
    lab = Removal(seed, loses_the_lock)
    lab.play()
    assert lab.broken() == {}
