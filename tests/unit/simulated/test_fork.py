"""A fork repeats another run from its input log, event by event, and leaves it alone."""

from __future__ import annotations

import itertools
from pathlib import Path

import msgspec
import pytest

from backend.errors import Impossible, Unavailable
from backend.simulated import runner as runners
from backend.simulated.inputs import CallOperation, InjectFault, PastRun, ReplaceWorkload, read_log
from backend.simulated.messages import ApplyInput, ClusterProgress, CreateCluster, Report, SetClock
from backend.simulated.runner import ClusterRunner
from nodes.metadata.operations import Mkdir
from nodes.trace.events import Stamped
from tests.unit.simulated.test_runner import SECOND, Lived

SHARE_NS = SECOND


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lived:
    """A run with calls, a fault and a new load."""
    made = Lived(tmp_path)
    monkeypatch.setattr(runners.time, "monotonic_ns", lambda: made.wall_ns)
    made.live(2)
    made.runner.apply(ApplyInput("c", 1, CallOperation(Mkdir("/a"))))
    made.live(1.5)
    made.runner.apply(ApplyInput("c", 2, InjectFault("crash", ["mds1"], {})))
    made.live(4)
    workload = made.runner.cluster.origin.workload
    assert workload is not None
    made.runner.apply(ApplyInput("c", 3, ReplaceWorkload(workload)))
    made.live(2)
    return made


def events(reports: list[Report]) -> list[Stamped]:
    return [each for report in reports if isinstance(report, ClusterProgress) for each in report.events]


def fork_of(source: Lived, path: Path, until_ns: int) -> tuple[ClusterRunner, list[Report]]:
    reports: list[Report] = []
    origin, _ = read_log(source.log)
    request = CreateCluster("f", origin, str(path), PastRun(str(source.log), until_ns))
    return ClusterRunner(request, reports.append, 0), reports


def finish(fork: ClusterRunner, share_ns: int = SHARE_NS) -> int:
    """Advances until the clock pauses; returns the number of turns."""
    for turn in range(1, 10_000):
        fork.advance(runners.time.monotonic_ns(), share_ns)
        if not fork.clock().playing:
            return turn
    raise AssertionError("it never pauses")


def test_the_events_are_the_same_to_the_byte_and_the_run_is_as_it_was(
    source: Lived, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runners.time, "monotonic_ns", lambda: 0)
    source.runner.report()
    log, now_ns = source.log.read_bytes(), source.now_ns
    fork, reports = fork_of(source, tmp_path / "f.jsonl", now_ns)
    assert finish(fork) == 1
    assert fork.cluster.now_ns == now_ns == source.now_ns
    assert msgspec.msgpack.encode(events(reports)) == msgspec.msgpack.encode(events(source.reports))
    assert source.log.read_bytes() == log
    assert read_log(tmp_path / "f.jsonl") == read_log(source.log), "a fork of the fork is possible"


def test_a_part_of_a_run_is_repeated_in_many_turns(
    source: Lived, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall_ns = itertools.count()
    monkeypatch.setattr(runners.time, "monotonic_ns", lambda: next(wall_ns))
    fork, reports = fork_of(source, tmp_path / "f.jsonl", 3 * SECOND)
    assert finish(fork, share_ns=100) > 10, "each turn is short, so other clusters go on"
    expected = [each for each in events(source.reports) if each.at_ns <= 3 * SECOND]
    assert events(reports) == expected and len(expected) > 50
    assert len(read_log(tmp_path / "f.jsonl")[1]) == 1, "what came later is not repeated"


def test_nobody_changes_the_past(source: Lived, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runners.time, "monotonic_ns", lambda: 0)
    fork, _ = fork_of(source, tmp_path / "f.jsonl", 3 * SECOND)
    with pytest.raises(Impossible, match="still repeats"):
        fork.apply(ApplyInput("f", 1, InjectFault("crash", ["mds2"], {})))
    with pytest.raises(Impossible, match="still repeats"):
        fork.change_clock(SetClock("f", 2, True, 1.0), 0)
    finish(fork)
    fork.apply(ApplyInput("f", 3, InjectFault("crash", ["mds2"], {})))
    fork.change_clock(SetClock("f", 4, True, 1.0), 0)
    assert fork.clock().playing


def test_a_log_that_is_not_there_or_another_ones_is_refused(source: Lived, tmp_path: Path) -> None:
    origin, _ = read_log(source.log)
    gone = CreateCluster("f", origin, str(tmp_path / "f.jsonl"), PastRun(str(tmp_path / "no"), 1))
    with pytest.raises(Unavailable, match="cannot be repeated"):
        ClusterRunner(gone, lambda report: None, 0)
    other = msgspec.structs.replace(origin, seed=origin.seed + 1)
    wrong = CreateCluster("f", other, str(tmp_path / "g.jsonl"), PastRun(str(source.log), 1))
    with pytest.raises(Unavailable, match="began otherwise"):
        ClusterRunner(wrong, lambda report: None, 0)
