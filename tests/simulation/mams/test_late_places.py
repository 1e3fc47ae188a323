"""Places that step 5 writes land late, when a member has been removed since (CFS §4.2.2; safety rule 3)."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from nodes.config import SECOND
from nodes.metadata.operations import Mkdir, Stat
from nodes.sim.coordination import HeldWrites
from nodes.world import SetNode
from tests.simulation.mams.lab import Lab

TRIES = 40


class Late(Lab):
    """The first write of step 5 is late: the elected server does not know its outcome, and repeats it."""

    def __init__(self, seed: int):
        super().__init__(seed, standbys=2)
        self.ada.call(Mkdir("/a"))
        self.elected = self.standby = ""
        """The writer, and a standby of the late write."""
        held = {name: self.cluster.hold_write(name, partial(self._is_first, name)) for name in self.standbys}
        before = len(self.serving())
        self.faults.take_lock("g1")
        self.cluster.run_until(lambda: bool(self.elected) or len(self.serving()) > before)
        if self.elected:
            self.late: HeldWrites = held[self.elected]
            self.cluster.coordination_of(self.elected).disconnected()
            self.await_next_active()
            self.cluster.run_until(self.cluster.settled)

    @property
    def repeats(self) -> bool:
        """Whether the connection was back in time: the same tenure goes on."""
        return bool(self.elected) and self.active == self.elected

    def _is_first(self, server: str, changes: list[Any]) -> bool:
        sets = [change for change in changes if type(change) is SetNode]
        standbys = [
            each.path.rsplit("/", 1)[1] for each in sets if "/view/" in each.path and b"standby" in each.data
        ]
        if self.elected or not standbys or any(each.path.endswith("/configuration") for each in sets):
            return False
        self.elected, self.standby = server, standbys[0]
        return True


@pytest.mark.parametrize("nth", range(2))
def test_a_removed_server_does_not_become_a_standby_by_a_late_place(nth: int) -> None:
    """It would wait as a standby that is sent nothing, and the group could lose no other server."""
    lab = [each for each in map(Late, range(TRIES)) if each.repeats][nth]
    removed, (other,) = lab.standby, [n for n in lab.standbys if n != lab.standby]
    lab.faults.cut(lab.elected, removed)
    lab.begin_and_wait(lab.ada, Mkdir("/b"))
    lab.cluster.run_until(lambda: removed not in lab.cluster.configured["g1"], 20 * SECOND)
    lab.late.release()
    lab.faults.heal_all()
    lab.cluster.run_until(lambda: removed in lab.cluster.configured["g1"], 60 * SECOND)
    lab.faults.crash(other)
    written = lab.begin(lab.ada, Mkdir("/c"))
    lab.cluster.run_until(written.done, 60 * SECOND)
    assert written.exception() is None
    lab.eve.call(Stat("/b"))
    lab.finish()
    assert lab.broken() == {}
