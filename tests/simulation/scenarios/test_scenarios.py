"""Every shipped scenario in virtual time; and again, byte for byte, in a process with another hash seed."""

from __future__ import annotations

import asyncio
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from backend.scenarios.reading import read
from backend.scenarios.runner import Outcome, Run, run

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted(path.relative_to(ROOT) for path in (ROOT / "scenarios").rglob("*.yaml"))
DIGEST = """
import asyncio, hashlib, sys
from pathlib import Path
from backend.scenarios.reading import read
from backend.scenarios.runner import Run
for scenario in read(Path(sys.argv[1]))[:1]:
    run = Run(scenario, "simulated", scenario.seed)
    asyncio.run(run.run())
    print(hashlib.sha256(run.fabric.cluster.event_log_bytes()).hexdigest())
"""


def told(outcome: Outcome) -> str:
    return "; ".join(
        f"{verdict.expected}: {verdict.seen}" for verdict in outcome.verdicts if not verdict.held
    )


@pytest.mark.parametrize("file", FILES, ids=str)
def test_it_holds(file: Path) -> None:
    for scenario in read(ROOT / file):
        outcome = asyncio.run(run(scenario, "simulated", scenario.seed))
        assert outcome.held, f"{scenario.name}: {told(outcome)}"
        assert outcome.calls > 500


@pytest.mark.parametrize("file", FILES, ids=str)
def test_the_same_seed_gives_the_same_events(file: Path) -> None:
    scenario = read(ROOT / file)[0]
    here = Run(scenario, "simulated", scenario.seed)
    asyncio.run(here.run())
    digest = hashlib.sha256(here.fabric.cluster.event_log_bytes()).hexdigest()  # type: ignore[attr-defined]
    environment = {**os.environ, "PYTHONHASHSEED": "4242", "PYTHONPATH": str(ROOT)}
    there = subprocess.run(
        [sys.executable, "-c", DIGEST, str(ROOT / file)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert there.stdout.strip() == digest


def test_an_expectation_that_does_not_hold_is_found(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(
        "name: x\nteaches: y\nsteps:\n  - {at: 2s, fault: crash, target: active of g1}\n"
        "end: {at: 12s}\nexpect: {longest_outage: 1s, rows: {letters: [ASSS, SSSS]}}\n"
    )
    outcome = asyncio.run(run(read(file)[0], "simulated", 1))
    assert not outcome.held
    assert [verdict.held for verdict in outcome.verdicts] == [False, False]


def test_a_target_that_nobody_is_ends_the_run_with_one_line(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(
        "name: x\nteaches: y\nsteps:\n  - {at: 1s, fault: crash, target: junior of g1}\nend: {at: 2s}\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "backend.cli", "run", str(file)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 2
    assert "there is no junior of g1 now" in done.stderr and "Traceback" not in done.stderr
