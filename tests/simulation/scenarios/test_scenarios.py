"""Every shipped scenario in virtual time; and some, or all, again in a process with another hash seed: byte for byte the same."""

from __future__ import annotations

import asyncio
import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backend.scenarios.reader import read
from backend.scenarios.runner import ScenarioOutcome, ScenarioRun, run
from nodes.config import SECOND
from tests.chosen import SCENARIOS, but_for_slow, chosen
from tests.missed import missed

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted(path.relative_to(ROOT) for path in (ROOT / "scenarios").rglob("*.yaml"))
ANY_SEED = [file for file in FILES if file.parts[1] in ("groups", "recovery", "data", "pool")]
"""Files that hold under any seed. Other files follow rows of the paper and carry the seed that produces them."""
SLOW = (
    "scenarios/data/data-nodes-lost-while-writing.yaml",
    "scenarios/faults/crash-during-upgrade.yaml",
    "scenarios/faults/junior-renewing-under-load.yaml",
    "scenarios/faults/view-changes-under-load.yaml",
    "scenarios/groups/ddg-rename-storm.yaml",
    "scenarios/recovery/junior-renews-while-marking.yaml",
)
REPLAYED = {
    Path("scenarios") / file
    for file in (
        "baselines/two-phase-waits.yaml",
        "data/replica-rots.yaml",
        "faults/crash-the-active.yaml",
        "faults/power-loss-of-all.yaml",
        "groups/lossy-links-between-groups.yaml",
        "labs/redo-without-phase-one.yaml",
        "pool/packets-damaged.yaml",
        "recovery/clocks-apart.yaml",
    )
}
"""Files of every folder but `papers`, with every kind of server and most faults."""
DIGEST = """
import asyncio, hashlib, sys
from pathlib import Path
from backend.scenarios.reader import read
from backend.scenarios.runner import ScenarioRun
for scenario in read(Path(sys.argv[1]))[:1]:
    run = ScenarioRun(scenario, "simulated", scenario.seed)
    asyncio.run(run.run())
    print(hashlib.sha256(run.fabric.cluster.event_log_bytes()).hexdigest())
"""


@pytest.mark.parametrize("file", but_for_slow(FILES, SLOW), ids=str)
def test_it_holds_and_the_same_seed_gives_the_same_events(file: Path) -> None:
    first, *others = read(ROOT / file)
    here = ScenarioRun(first, "simulated", first.seed)
    check(asyncio.run(here.run()))
    for scenario in others:
        check(asyncio.run(run(scenario, "simulated", scenario.seed)))
    if file in chosen(REPLAYED, FILES, SCENARIOS):
        digest = hashlib.sha256(here.fabric.cluster.event_log_bytes()).hexdigest()  # type: ignore[attr-defined]
        assert digest_elsewhere(file) == digest


def digest_elsewhere(file: Path) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": "4242", "PYTHONPATH": str(ROOT)}
    there = subprocess.run(
        [sys.executable, "-c", DIGEST, str(ROOT / file)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return there.stdout.strip()


def test_what_is_replayed_is_there() -> None:
    assert set(FILES) > REPLAYED


@pytest.mark.full
@pytest.mark.parametrize("file", ANY_SEED, ids=str)
def test_it_holds_with_another_seed(file: Path) -> None:
    (scenario,) = read(ROOT / file)
    check(asyncio.run(run(scenario, "simulated", scenario.seed + 1)))


def test_what_is_reported_while_a_fault_is_being_injected_counts() -> None:
    """As in containers, where this takes a second and the scrubber may be faster."""
    (scenario,) = read(ROOT / "scenarios/data/replica-rots.yaml")
    slow = ScenarioRun(scenario, "simulated", scenario.seed)
    at_once = slow.fabric.fault

    async def fault(verb: str, words: list[str], options: dict[str, Any]) -> list[str]:
        names = await at_once(verb, words, options)
        await slow.fabric.run_until(slow.fabric.now_ns + 5 * SECOND, lambda: False)
        return names

    slow.fabric.fault = fault  # type: ignore[method-assign]
    check(asyncio.run(slow.run()))


def check(outcome: ScenarioOutcome) -> None:
    assert outcome.held, missed(outcome)
    assert outcome.calls > 100


def test_an_expectation_that_does_not_hold_is_found(tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(
        "name: x\nteaches: y\nsteps:\n  - {at: 2s, fault: crash, target: active of g1}\n"
        "end: {at: 12s}\nexpect: {longest_outage: 1s, rows: {roles: [ASSS, SSSS]}}\n"
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
    assert done.returncode == 3
    assert "there is no junior of g1 now" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("steps", "expect", "reported"),
    [
        ("", "{checkpoints: {one: complete}}", "checkpoint one: complete: not known"),
        ("{at: 1s, mark: one}", "{checkpoints: {one: incomplete}}", "checkpoint one: incomplete: complete"),
        ("{at: 1s, recover: one}", "{failed_calls: 0}", "no checkpoint is called 'one'"),
        ("{at: 1s, mark: one}, {after: 1s, recover: one}", "{quarantined: 9999}", "quarantined ≥ 9999"),
        ("{at: 1s, mark: one}", "{rolled_back: one}", "rolled back to one: not mds1"),
        ("{at: 2s, fault: crash, target: [mds1, mds2]}", "{fsck: clean}", "g1 has no active now"),
        ("{at: 2s, fault: crash, target: [dn1, dn2]}", "{blocks: whole}", "blocks: whole"),
        ("", "{told: {PacketRefused: 1}}", "told PacketRefused ≥ 1: 0"),
        ("{at: 3s, fault: crash, target: [dn1, dn2, dn3]}", "{failed_calls: 0}", "EIO"),
    ],
)
def test_what_is_expected_of_checkpoints_and_files_can_fail(
    tmp_path: Path, steps: str, expect: str, reported: str
) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(
        "name: x\nteaches: y\ncluster: {groups: 2, standbys: 1, placement: random, data_nodes: 3}\n"
        "workload: {clients: 3, rate: 20/s, mix: {create: 1, mkdir: 1, put: 1, get: 1}, size: 20000}\n"
        f"steps: [{steps}]\nend: {{at: 90s}}\nexpect: {expect}\n".replace(
            "90s", "90s" if "EIO" in reported else "13s"
        )
    )
    outcome = asyncio.run(run(read(file)[0], "simulated", 1))
    failed = [f"{verdict.expected}: {verdict.seen}" for verdict in outcome.verdicts if not verdict.held]
    assert any(reported in line for line in failed), failed
