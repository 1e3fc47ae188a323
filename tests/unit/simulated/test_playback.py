"""A trial that is played a little at a time: the same events as in the search, and where it halts."""

from __future__ import annotations

import random
import threading
from pathlib import Path

import pytest

from backend.simulated import runner as runners
from backend.simulated.inputs import ClusterOrigin
from backend.simulated.messages import ClusterProgress, CreateCluster, Report, SetClock
from backend.simulated.playback import REPORTER, Playback
from backend.simulated.runner import ClusterRunner
from nodes.config import Holes
from nodes.explore import audit
from nodes.explore.draw import draw
from nodes.explore.plan import Plan
from nodes.explore.trial import Trial
from nodes.mutations import Mutations
from nodes.trace.events import CheckFailed, Stamped
from tests.failing_seed import failing_seed, plan_with_bug

FAILING = plan_with_bug(failing_seed())
TICK_NS = 10_000_000
SHARE_NS = 1_000_000_000


def played(playback: Playback) -> tuple[list[Stamped], list[int]]:
    """All events of a trial that is advanced by random steps, and how many had been seen at each halt."""
    rng, events, halts = random.Random(7), list[Stamped](), list[int]()
    while not playback.over:
        left = rng.randrange(1, 50)

        def stop() -> bool:
            nonlocal left
            left -= 1
            return left < 0

        playback.advance(playback.stage.now_ns + rng.randrange(1, 200_000_000), stop)
        events += playback.stage.take_events()
        if playback.halted:
            halts.append(len(events))
    return events, halts


@pytest.mark.parametrize(
    "plan", [FAILING, draw(3, "symmetric", Holes(), Mutations())], ids=["mams", "symmetric"]
)
def test_the_events_are_those_of_the_search(plan: Plan) -> None:
    trial = Trial(plan)
    outcome = trial.run()
    events, halts = played(Playback(plan))
    assert events == trial.cluster.events  # type: ignore[attr-defined]
    assert len(halts) == (2 if outcome.failures else 1) and halts[-1] == len(events)
    if outcome.failures:
        server, number = outcome.failures[0].evidence[-1]
        seen = [(each.server, each.number) for each in events[: halts[0]]]
        instant = events[halts[0] - 1].at_ns
        assert events[seen.index((server, number))].at_ns == instant


def test_what_no_invariant_finds_is_an_event(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(trial: Trial) -> None:
        raise RuntimeError("no tree")

    monkeypatch.setattr(audit, "read_back", broken)
    events, halts = played(Playback(draw(3, "symmetric", Holes(), Mutations())))
    [failed] = [each.event for each in events if each.server == REPORTER]
    assert isinstance(failed, CheckFailed)
    assert (failed.invariant, failed.explanation) == ("no exception", "RuntimeError: no tree")
    assert halts == [len(events)]


def test_a_dropped_cluster_leaves_no_thread() -> None:
    playback = Playback(FAILING)
    playback.advance(500_000_000, lambda: False)
    playback.close()
    assert "trial" not in {thread.name for thread in threading.enumerate()}


def test_the_clock_pauses_at_the_broken_promise_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall_ns, reports = 0, list[Report]()
    monkeypatch.setattr(runners.time, "monotonic_ns", lambda: wall_ns)
    origin = ClusterOrigin(FAILING.cluster, FAILING.seed, plan=FAILING)
    runner = ClusterRunner(CreateCluster("c", origin, str(tmp_path / "1.jsonl")), reports.append, 0)

    def live() -> int:
        """Until the clock pauses; returns that instant."""
        nonlocal wall_ns
        while runner.clock().playing:
            wall_ns += TICK_NS
            runner.advance(wall_ns, SHARE_NS)
        return runner.cluster.now_ns

    broken_ns = live()
    seen = [each for report in reports if isinstance(report, ClusterProgress) for each in report.events]
    assert seen[-1].at_ns == broken_ns
    runner.change_clock(SetClock("c", 1, True, 1.0), wall_ns)
    over_ns = live()
    assert over_ns > broken_ns
    runner.change_clock(SetClock("c", 2, True, 1.0), wall_ns)
    wall_ns += TICK_NS
    runner.advance(wall_ns, SHARE_NS)
    assert runner.clock().playing and runner.cluster.now_ns > over_ns
    runner.close()
