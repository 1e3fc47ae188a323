"""A violated invariant is printed with its story: the output itself has the messages and faults that caused it."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.cli import entry
from backend.explore.campaign import CampaignTally
from backend.explore.cli import report
from backend.scenarios.reader import read
from nodes.explore import trial
from nodes.explore.draw import draw
from nodes.explore.plan import Failure, PlanOutcome

LOST = """
name: a standby that lacks an acknowledged group is elected
teaches: what a failure tells
seed: 323
trial:
  cluster:
    groups: [{name: g1, number: 1, members: [mds1, mds2, mds3]}]
    timing: {heartbeat_ms: 150, session_timeout_ms: 600, ack_timeout_ms: 200, draw_wait_ms: 10, renew_scan_ms: 500}
    holes: {election_ignores_sn: true, async_flush: true}
    data: {scrub_ms: 200}
  callers: [{name: c3, calls: [create /a, create /b, create /c], lanes: 4, start_ms: 636}]
  faults:
    - {verb: cut, targets: [first active of g1, coordination], at_ms: 630}
    - {verb: expire_session, targets: [active of g1], at_ms: 633}
  span_ms: 766
"""
UNMET = """
name: what nobody promises
teaches: what an expectation that is not met tells
cluster: {protocol: mams, groups: 1, standbys: 2}
workload: {clients: 1, rate: 20/s, mix: {mkdir: 1}}
steps:
  - {at: 1s, fault: pause, target: active of g1}
end: {at: 2s}
expect: {roles: A A A}
"""


def written(directory: Path, text: str) -> Path:
    path = directory / "trial.yaml"
    path.write_text(text)
    return path


def test_a_lost_write_is_reported_from_its_call_and_the_fault_to_the_group_that_replaced_it(
    tmp_path: Path,
) -> None:
    [scenario] = read(written(tmp_path, LOST))
    failures = trial.run(scenario.plan()).failures
    lines = next(each.story for each in failures if "is replaced by another one" in each.explanation)
    call = next(line for line in lines if "calls create" in line and "c3.1" in line)
    fault = next(line for line in lines if "expire_session" in line)
    lock = next(line for line in lines if "the lock of g1 is held by" in line)
    assert lines.index(fault) < lines.index(lock) and call in lines
    assert "commits sn 3 of epoch 2" in lines[-1]
    assert any("upon Prepared: commits sn 3 of epoch 1 with call c3.1" in line for line in lines)
    assert any("fault 1: cut mds2 coordination" in line for line in lines)


def test_the_same_is_printed_by_whoever_runs_the_trial_or_searches_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, LOST)
    assert entry(["run", str(path)]) == 1
    reported = capsys.readouterr().err
    assert reported.index("no lost write") < reported.index("fault 2: expire_session")
    assert reported.index("fault 2: expire_session") < reported.rindex("commits sn 3 of epoch 2")


def test_a_search_reports_it_with_the_failures_that_it_found(capsys: pytest.CaptureFixture[str]) -> None:
    failure = Failure("no lost write", "here", "group 3 is gone", story=["    1.0000 s  mds1  serves g1"])
    tally = CampaignTally(
        failures={("mams", "no lost write", "here"): PlanOutcome(draw(1, "mams"), [failure])}
    )
    tally.counts["mams", "no lost write", "here"] = 1
    report(tally)
    assert "group 3 is gone\n        1.0000 s  mds1  serves g1\n" in capsys.readouterr().err


def test_a_scenario_whose_expectation_is_not_met_ends_with_what_happened_last(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, UNMET)
    report = tmp_path / "report.html"
    assert entry(["run", str(path), "--report", str(report)]) == 1
    reported = capsys.readouterr().err
    assert "what led to it, since the workload began:" in reported
    assert "    1.0000 s  control" in reported and "fault 1: pause" in reported
    assert "What led to it" in report.read_text()


def test_where_all_held_nothing_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, UNMET.replace("roles: A A A", "failed_calls: 0"))
    assert entry(["run", str(path)]) == 0
    assert "what led to it" not in capsys.readouterr().err
