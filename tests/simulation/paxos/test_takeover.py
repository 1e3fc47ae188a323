"""Events in the middle of a takeover, and the servers that it waits for."""

from __future__ import annotations

from nodes.config import SECOND
from nodes.metadata.operations import Mkdir, Stat
from nodes.replicas.view import GlobalView, Place
from tests.simulation.paxos.lab import Lab


def test_a_place_that_vanishes_between_look_and_write_is_looked_at_again(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    lab = Lab(1)
    lab.ada.call(Mkdir("/a"))
    places, faulted = GlobalView.places, []

    async def seen_before(self: GlobalView) -> dict[str, Place]:
        """One place more than the view has, as if it had vanished just after the look."""
        found = await places(self)
        if self.name == elected() and not faulted and "mds9" not in found:
            faulted.append(self.name)
            found = {**found, "mds9": Place("secondary", 1, 0)}
        return found

    def elected() -> str:
        observer = lab.cluster.ensemble.observer
        holder = observer.holders.get("g1", "")
        return holder if holder != old else ""

    old = lab.primary
    lab.faults.crash(old)
    monkeypatch.setattr(GlobalView, "places", seen_before)
    for _ in range(3):
        faulted.clear()
        lab.run_ms(2_000)
    lab.await_letter(lab.primary, "P")
    lab.eve.call(Stat("/a"))
    lab.finish()
    assert lab.broken() == {}


def test_nobody_waits_for_the_draw_of_a_member_that_is_never_elected() -> None:
    """An added server alone is a secondary when all configured servers return."""
    lab = Lab(1)
    lab.ada.call(Mkdir("/a"))
    configured = list(lab.cluster.view())
    lab.faults.add_server("g1")
    [added] = [name for name in lab.cluster.view() if name not in configured]
    lab.await_letter(added, "S")
    for name in configured:
        lab.faults.crash(name)
    lab.run_ms(8_000)
    for name in configured:
        lab.faults.restart(name)
    lab.cluster.run_until(lab.cluster.settled, 60 * SECOND)
    lab.eve.call(Stat("/a"))
    lab.finish()
    assert lab.broken() == {}
