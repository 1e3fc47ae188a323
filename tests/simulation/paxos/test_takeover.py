"""Events in the middle of a takeover, and the servers that it waits for."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.scenarios.reader import read
from nodes.config import SECOND
from nodes.explore.trial import run
from nodes.metadata.operations import Mkdir, Stat
from nodes.replicas.view import GlobalView, ServerPlace
from tests.simulation.paxos.lab import Lab


def test_a_place_that_vanishes_between_look_and_write_is_looked_at_again(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    lab = Lab(1)
    lab.ada.call(Mkdir("/a"))
    places, faulted = GlobalView.places, []

    async def seen_before(self: GlobalView) -> dict[str, ServerPlace]:
        """One place more than the view has, as if it had vanished just after the look."""
        found = await places(self)
        if self.name == elected() and not faulted and "mds9" not in found:
            faulted.append(self.name)
            found = {**found, "mds9": ServerPlace("secondary", 1, 0)}
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


@pytest.mark.parametrize("ignored", [False, True])
@pytest.mark.parametrize("protocol", ["multi-paxos", "packed-paxos"])
def test_a_server_that_comes_late_takes_the_place_of_one_that_promised_and_is_gone(
    tmp_path: Path, protocol: str, ignored: bool
) -> None:
    """Two of four crash. mds4 is elected with the promises of mds2, which is back, and of mds3, which is cut off then; only mds1 makes a majority."""
    path = tmp_path / "trial.yaml"
    path.write_text(f"""
name: a promiser is gone, and another server comes
teaches: a majority of four that is there suffices
seed: 580
trial:
  cluster:
    protocol: {protocol}
    groups: [{{name: g1, number: 1, members: [mds1, mds2, mds3, mds4]}}]
    timing: {{heartbeat_ms: 150, session_timeout_ms: 600}}
    mutations: {{joins_ignored_while_redoing: {str(ignored).lower()}}}
  faults:
    - verb: cut
      targets: [first active of g1, first standby 2 of g1]
      on: {{kind: sync, server: whoever of g1}}
    - {{verb: crash, targets: [first active of g1], at_ms: 3000}}
    - {{verb: crash, targets: [first standby 1 of g1], at_ms: 3000}}
  span_ms: 5038
""")
    [scenario] = read(path)
    failures = run(scenario.plan()).failures
    assert [(each.invariant, each.place) for each in failures] == ([("service", "core")] if ignored else [])
