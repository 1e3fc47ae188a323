"""Running until a condition on the state: the clock stops with the instant at which it begins to hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.errors import Impossible, Malformed, NotThere
from backend.simulated import runner as runners
from backend.simulated.inputs import InjectFault, read_log
from backend.simulated.messages import ApplyInput, ClusterProgress, SetClock, StepClock
from nodes.config import SECOND
from nodes.trace.events import Stamped
from tests.unit.simulated.test_runner import Lived


class Played(Lived):
    """A runner that has settled."""

    def play(self, **until: str | int) -> None:
        self.runner.change_clock(SetClock("c", 1, True, 1.0, **until), self.wall_ns)  # type: ignore[arg-type]

    def crash(self, server: str) -> None:
        self.runner.apply(ApplyInput("c", 2, InjectFault("crash", [server], {})))

    @property
    def servers(self) -> set[str]:
        return set(self.runner._pauses._picture.servers)

    @property
    def active(self) -> str:
        [name] = [
            name for name, each in self.runner._pauses._picture.servers.items() if each.role == "active"
        ]
        return name

    def events(self) -> list[Stamped]:
        return [e for report in self.reports if isinstance(report, ClusterProgress) for e in report.events]


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Played:
    made = Played(tmp_path)
    monkeypatch.setattr(runners.time, "monotonic_ns", lambda: made.wall_ns)
    made.live(3.0)
    return made


def test_the_clock_stops_when_the_condition_begins_to_hold(played: Played) -> None:
    first = played.active
    played.crash(first)
    played.play(until_condition="active of g1 serves")
    assert played.runner.clock().until_condition == "active of g1 serves"
    played.live(30.0)
    clock, last = played.runner.clock(), played.events()[-1]
    assert not clock.playing and (clock.until_condition, clock.met) == ("", "active of g1 serves")
    assert played.active != first and last.at_ns == clock.now_ns


def test_what_holds_already_or_is_no_condition_changes_nothing(played: Played) -> None:
    before, inputs = played.runner.clock(), len(read_log(played.log)[1])
    with pytest.raises(Impossible, match="holds already: settled"):
        played.play(until_condition="settled")
    for text in ("happy", "blocks whole", "reported Serving"):
        with pytest.raises(Malformed):
            played.play(until_condition=text)
    with pytest.raises(NotThere, match="no server is called 'mds9'; there are mds1, mds2"):
        played.play(until_condition="mds9 is standby")
    assert played.runner.clock() == before and len(read_log(played.log)[1]) == inputs


def test_a_server_can_be_waited_for_once_it_was_added(played: Played) -> None:
    before = played.servers
    with pytest.raises(NotThere):
        played.play(until_condition="mds4 is standby")
    played.runner.apply(ApplyInput("c", 2, InjectFault("add_server", ["g1"], {})))
    played.play()
    played.live(0.1)
    assert played.servers - before == {"mds4"}
    played.play(until_condition="mds4 is standby")
    played.live(60.0)
    assert played.runner.clock().met == "mds4 is standby"


def test_what_never_holds_goes_on_until_it_is_paused(played: Played) -> None:
    played.play(until_condition="mds2 is junior")
    played.live(3.0)
    assert played.runner.clock().playing
    played.runner.change_clock(SetClock("c", 2, False, 1.0), played.wall_ns)
    clock = played.runner.clock()
    assert not clock.playing and (clock.until_condition, clock.met) == ("", "")


def test_a_fault_that_fulfils_it_stops_the_clock_where_it_is(played: Played) -> None:
    name = next(each for each in ("mds1", "mds2") if each != played.active)
    played.play(until_event="FaultInjected")
    played.crash(name)
    at_ns = played.runner.cluster.now_ns
    played.live(1.0)
    assert played.runner.clock().met == "FaultInjected" and played.runner.cluster.now_ns == at_ns


def test_whichever_comes_first_is_named(played: Played) -> None:
    at_ns = played.runner.cluster.now_ns + SECOND // 2
    played.play(until_ns=at_ns, until_condition="mds2 is junior")
    played.live(1.0)
    clock = played.runner.clock()
    assert (clock.now_ns, clock.met, clock.until_condition) == (at_ns, "3.5 s", "")


def test_a_step_ends_it(played: Played) -> None:
    played.play(until_condition="mds2 is junior")
    played.runner.change_clock(StepClock("c", 3, "event"), played.wall_ns)
    assert played.runner.clock().until_condition == ""
