"""Trials on real processes: seeds of the explorer hold, and a real loss is detected."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from backend.explore.process_trial import run_on_processes
from backend.explore.real_stage import RealStage
from backend.explore.trial_fabric import TrialFabric
from nodes.config import DataConfig, Timing, one_group
from nodes.explore.content import ContentRecord
from nodes.explore.draw import draw
from nodes.explore.plan import Caller, Fault, Plan
from nodes.real.caller import CallProgress
from tests.processes.backend.running import CLOVERLAB, REPOSITORY, until
from tests.processes.scenarios.test_on_processes import commands_with
from tests.processes.scenarios.test_on_processes import directory as directory
from tests.slowness import slower

TIMING = Timing(heartbeat_ms=300, session_timeout_ms=1_000)
CREATES = [f"create /f{number}" for number in range(40)]


def plan_of(calls: list[str], *faults: Fault, **settings: Any) -> Plan:
    caller = Caller("c1", calls, every_us=20_000)
    return Plan(
        1, one_group(2, timing=TIMING, **settings), callers=[caller], faults=list(faults), span_ms=2_000
    )


@pytest.mark.timeout(slower(300))
@pytest.mark.parametrize(("family", "seed"), [("mams", 1), ("packed-paxos", 3)])
def test_a_seed_holds(family: str, seed: int) -> None:
    """The family, the load and the faults are drawn; short sessions keep the test short."""
    plan = draw(seed, family)
    plan = replace(plan, cluster=replace(plan.cluster, timing=TIMING), span_ms=min(plan.span_ms, 5_000))
    outcome = run_on_processes(plan)
    assert outcome.clean, outcome.failures
    assert outcome.answered and outcome.checked > 100


def test_killed_servers_and_clients_lose_nothing() -> None:
    """Content, too: every byte is read back, before and after all servers lose their power. The client dies while no server can answer it."""
    plan = plan_of(
        ["mkdir /d", *(f"put /d/p{number} 700" for number in range(10)), *CREATES],
        Fault("crash", ["active of g1"], at_ms=300, for_ms=500),
        Fault("power_loss", ["dn1"], at_ms=500, for_ms=300),
        Fault("fly", ["mds1"]),
        data=DataConfig(["dn1", "dn2", "dn3"], 200, 1_200, 1_000),
    )
    killed = Caller("c2", [f"create /g{number}" for number in range(200)], every_us=10_000, dies_ms=700)
    outcome = run_on_processes(replace(plan, callers=[*plan.callers, killed]))
    assert outcome.clean, outcome.failures
    assert outcome.skipped == 1 and 40 < outcome.answered < outcome.calls < 251


def test_a_name_that_is_in_no_tree_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """All servers leave a file out when they report their tree. Clients read it, and the model has it."""
    honest = RealStage.ask

    def leaves_out(self: RealStage, name: str, question: dict[str, Any]) -> Any:
        answer = honest(self, name, question)
        if question["do"] == "tree":
            for entries in answer["inodes"].values():
                (entries or {}).pop("f3", None)
        return answer

    monkeypatch.setattr(RealStage, "ask", leaves_out)
    outcome = run_on_processes(plan_of(CREATES[:10]))
    assert {failure.invariant for failure in outcome.failures} >= {"no lost write", "read back"}


def test_content_that_is_not_there_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client reports an acknowledged record that it never wrote."""
    honest = TrialFabric.progress_of

    def boasts(self: TrialFabric, name: str) -> CallProgress:
        progress = honest(self, name)
        place = next(iter(progress.acknowledged.values()), ContentRecord(0, 0))
        return replace(progress, acknowledged={**progress.acknowledged, "c1/99": place})

    monkeypatch.setattr(TrialFabric, "progress_of", boasts)
    data = DataConfig(["dn1"], 200, 1_200, 1_000)
    outcome = run_on_processes(plan_of(["put /f 700"], data=data))
    assert [(each.invariant, each.place) for each in outcome.failures] == [("content", "acknowledged")]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_search_that_is_ended_leaves_no_process_behind(directory: Path, number: signal.Signals) -> None:
    """It prints its results so far, although a trial is under way."""
    command = [*CLOVERLAB, "explore", "--protocol", "single", "--seeds", "1..9", "--on", "processes"]
    search = subprocess.Popen(
        command,
        cwd=REPOSITORY,
        env={**os.environ, "TMPDIR": str(directory)},
        stderr=subprocess.PIPE,
        text=True,
    )
    until(lambda: search.poll() is not None or bool(commands_with(f"nodes server --config {directory}")))
    search.send_signal(number)
    _, reported = search.communicate(timeout=slower(30))
    assert search.returncode == 0 and "incomplete: stopped by Ctrl-C" in reported, reported
    assert "Traceback" not in reported
    assert not commands_with(str(directory)) and not list(directory.iterdir())
