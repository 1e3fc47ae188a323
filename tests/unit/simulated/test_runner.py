"""One cluster in its worker: what it reports, answers and refuses, and when its clock stops."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import socket
from pathlib import Path

import msgspec
import pytest

from backend.errors import Unavailable
from backend.fabrics.watched_cluster import GENTLE
from backend.shape import Shape, new_config
from backend.simulated import runner as runners
from backend.simulated.inputs import AskServer, CallOperation, ClusterOrigin, InjectFault, read_log
from backend.simulated.messages import (
    Answered,
    ApplyInput,
    ClusterEnded,
    ClusterProgress,
    CreateCluster,
    Observe,
    Report,
    RequestFailed,
    SetClock,
    StepClock,
)
from backend.simulated.runner import ClusterRunner
from backend.simulated.worker import SimulationWorker
from backend.simulated.workers import Workers
from nodes.metadata.operations import Mkdir
from nodes.wire.messages import Answer

SECOND = 1_000_000_000
TICK_NS = 10_000_000


class Lived:
    """A runner on a wall clock of the test's own, and its reports."""

    def __init__(self, tmp_path: Path):
        self.log = tmp_path / "1.jsonl"
        self.reports: list[Report] = []
        self.wall_ns = 0
        origin = ClusterOrigin(new_config(Shape(standbys=2, nodes={"data_node": 0}), "c"), 5, GENTLE)
        self.runner = ClusterRunner(CreateCluster("c", origin, str(self.log)), self.reports.append, 0)

    def live(self, seconds: float) -> None:
        for _ in range(round(seconds * SECOND / TICK_NS)):
            self.wall_ns += TICK_NS
            self.runner.advance(self.wall_ns, SECOND)

    @property
    def now_ns(self) -> int:
        return self.runner.cluster.now_ns

    def answers(self) -> dict[int, Answered | RequestFailed]:
        return {each.id: each for each in self.reports if isinstance(each, Answered | RequestFailed)}


@pytest.fixture
def lived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lived:
    made = Lived(tmp_path)
    monkeypatch.setattr(runners.time, "monotonic_ns", lambda: made.wall_ns)
    return made


def test_virtual_time_follows_the_wall_clock_at_the_speed(lived: Lived) -> None:
    lived.live(1.0)
    assert lived.now_ns == SECOND
    lived.runner.change_clock(SetClock("c", 1, True, 10.0), lived.wall_ns)
    lived.live(0.5)
    assert lived.now_ns == 6 * SECOND
    lived.runner.change_clock(SetClock("c", 2, False, 10.0), lived.wall_ns)
    lived.live(1.0)
    assert lived.now_ns == 6 * SECOND and lived.runner.wait_s is None


def test_events_come_before_the_answer_to_what_caused_them(lived: Lived) -> None:
    lived.live(2.0)
    lived.reports.clear()
    lived.runner.apply(ApplyInput("c", 7, InjectFault("crash", ["mds1"], {})))
    progress, answered = lived.reports
    assert isinstance(progress, ClusterProgress) and isinstance(answered, Answered) and answered.id == 7
    assert [type(each.event).__name__ for each in progress.events][-1] == "FaultInjected"
    assert progress.states is not None and progress.states["mds1"] == "stopped"


def test_a_call_is_answered_when_virtual_time_has_passed(lived: Lived) -> None:
    lived.live(2.0)
    lived.runner.apply(ApplyInput("c", 1, CallOperation(Mkdir("/a"))))
    lived.runner.apply(ApplyInput("c", 2, CallOperation(Mkdir("/a/b/c"))))
    assert not lived.answers()
    lived.live(1.0)
    done, refused = lived.answers()[1], lived.answers()[2]
    assert isinstance(done, Answered) and msgspec.msgpack.decode(done.body, type=Answer).error == ""
    assert isinstance(refused, RequestFailed) and (refused.kind, refused.name) == ("FsError", "ENOENT")


def test_a_question_to_a_paused_server_is_refused(lived: Lived) -> None:
    lived.live(2.0)
    lived.runner.apply(ApplyInput("c", 1, AskServer("mds1", {"do": "counters"}, SECOND)))
    lived.runner.apply(ApplyInput("c", 2, InjectFault("pause", ["mds2"], {})))
    with pytest.raises(Unavailable, match="mds2 does not answer: it is paused"):
        lived.runner.apply(ApplyInput("c", 3, AskServer("mds2", {"do": "counters"}, SECOND)))
    lived.live(0.1)
    assert isinstance(lived.answers()[1], Answered)


def test_too_many_calls_at_once_are_refused(lived: Lived) -> None:
    lived.live(1.0)
    for number in range(runners.AT_ONCE):
        lived.runner.apply(ApplyInput("c", number, CallOperation(Mkdir(f"/{number}"))))
    with pytest.raises(Unavailable, match="under way"):
        lived.runner.apply(ApplyInput("c", 99, CallOperation(Mkdir("/x"))))


def test_a_step_ends_at_the_next_event_or_message(lived: Lived) -> None:
    lived.live(2.0)
    sim = lived.runner.cluster.sim
    lived.runner.change_clock(SetClock("c", 1, False, 1.0), lived.wall_ns)
    lived.reports.clear()
    before, delivered = lived.now_ns, sim.net.delivered
    lived.runner.change_clock(StepClock("c", 2, "event"), lived.wall_ns)
    events = [
        each for report in lived.reports if isinstance(report, ClusterProgress) for each in report.events
    ]
    assert events and {each.at_ns for each in events} == {lived.now_ns} and lived.now_ns > before
    delivered = sim.net.delivered
    lived.runner.change_clock(StepClock("c", 3, "message"), lived.wall_ns)
    assert sim.net.delivered > delivered
    assert not lived.runner.clock().playing


def test_the_clock_stops_at_an_instant_or_after_an_event(lived: Lived) -> None:
    lived.live(1.0)
    lived.runner.change_clock(SetClock("c", 1, True, 100.0, until_ns=3 * SECOND + 7), lived.wall_ns)
    lived.live(1.0)
    assert lived.now_ns == 3 * SECOND + 7 and not lived.runner.clock().playing
    lived.reports.clear()
    lived.runner.change_clock(SetClock("c", 2, True, 1.0, until_event="Committed"), lived.wall_ns)
    lived.live(2.0)
    events = [
        each for report in lived.reports if isinstance(report, ClusterProgress) for each in report.events
    ]
    found = [each for each in events if type(each.event).__name__ == "Committed"]
    assert found and {each.at_ns for each in found} == {lived.now_ns}
    assert lived.now_ns < 4 * SECOND


def test_every_change_of_the_clock_is_in_the_log_and_questions_that_read_are_not(lived: Lived) -> None:
    lived.live(2.0)
    lived.runner.change_clock(SetClock("c", 1, True, 5.0), lived.wall_ns)
    lived.runner.observe(Observe("c", 2, "mds1", {"do": "counters"}))
    lived.runner.observe(Observe("c", 3, "", {}))
    assert [each.at_ns for each in read_log(lived.log)[1]] == [2 * SECOND]
    tree = lived.answers()[3]
    assert isinstance(tree, Answered)
    assert any(node["path"] == "/cloverlab" for node in msgspec.json.decode(tree.body))


def test_clusters_that_cannot_keep_up_share_the_worker_evenly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading_ns = itertools.count(0, 10_000)
    monkeypatch.setattr(runners.time, "monotonic_ns", lambda: next(reading_ns))
    ours, theirs = socket.socketpair()
    with ours, theirs:
        worker = SimulationWorker(theirs)
        monkeypatch.setattr(worker, "send", lambda report: None)
        for number in range(4):
            origin = ClusterOrigin(new_config(Shape(standbys=1), f"c{number}"), number, GENTLE)
            worker._on_request(CreateCluster(f"c{number}", origin, str(tmp_path / f"{number}.jsonl")))
            worker._on_request(SetClock(f"c{number}", 1, True, 1000.0))
        for _ in range(20):
            worker.advance()
        reached = [runner.cluster.now_ns for runner in worker.runners.values()]
    assert min(reached) > max(reached) / 3 > 0


def test_a_worker_that_is_killed_is_reported_for_each_of_its_clusters(tmp_path: Path) -> None:
    async def body() -> None:
        workers, reports = Workers(1), list[Report]()
        one = await workers.place("one", reports.append)
        assert await workers.place("two", reports.append) is one
        os.kill(one.pid, signal.SIGKILL)
        async with asyncio.timeout(20):
            while len(reports) < 2:
                await asyncio.sleep(0.01)
        assert reports == [ClusterEnded(name, "its process has ended") for name in ("one", "two")]
        with pytest.raises(Unavailable, match="has ended"):
            one.send(Observe("one", 1, "", {}))
        other = await workers.place("three", reports.append)
        assert other is not one
        await workers.stop()

    asyncio.run(body())


def test_a_pause_is_reported_with_the_last_event_before_it(
    lived: Lived, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived.live(1.0)
    lived.runner.report()
    lived.reports.clear()
    monkeypatch.setattr(runners, "BATCH_EVENTS", 2)
    lived.runner.change_clock(SetClock("c", 1, True, 10.0, until_event="Committed"), lived.wall_ns)
    lived.live(1.0)
    *earlier, last = [each for each in lived.reports if isinstance(each, ClusterProgress) and each.events]
    assert earlier and all(each.clock.playing for each in earlier)
    assert type(last.events[-1].event).__name__ == last.clock.met == "Committed"
