"""What `explore` leaves: a directory that was tried before the search, a file of each kind of failure, none replaced, with its hash; and searches
of a scenario's own steps, which end in time and keep what they have."""

from __future__ import annotations

import asyncio
import io
import json
import re
import time
from collections.abc import Coroutine
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console

from backend.cli import entry
from backend.explore import cli, scenario_writer, search_progress, steps
from backend.explore.campaign import CampaignTally
from backend.explore.executors import Here
from backend.explore.work import outcome_of
from backend.scenarios.reader import read
from nodes.config import one_group
from nodes.explore.plan import Failure, Plan, PlanOutcome
from tests.failing_seed import BUG, failing_seed

FAILS = """
name: the service fails for a moment
teaches: nothing
cluster: {standbys: 1}
steps:
- {at: 50ms, fault: skew_clock, target: standby of g1, options: {ms: 1}}
- {at: 100ms, fault: crash, target: active of g1}
- {at: 200ms, expect: {serving: true}}
end: {at: 1s}
"""


def failing(seed: int, invariant: str = "no lost write") -> PlanOutcome:
    return PlanOutcome(
        Plan(seed, one_group(1)), [Failure(invariant, "here", "it is gone")], log_sha256="ab" * 32
    )


@pytest.mark.parametrize("file", [["--protocol", "single", "--seeds", "1..9"], ["FILE"]])
def test_a_directory_that_cannot_be_written_is_noticed_before_the_search(
    file: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "fails.yaml").write_text(FAILS)
    arguments = [str(tmp_path / "fails.yaml") if word == "FILE" else word for word in file]
    assert entry(["explore", *arguments, "--out", "/proc/nowhere"]) == 2
    said = capsys.readouterr().err
    assert "cannot write to /proc/nowhere: " in said and said.count("\n") == 1


def test_a_directory_without_findings_is_not_left(tmp_path: Path) -> None:
    with scenario_writer.writable(tmp_path / "a"):
        assert (tmp_path / "a").is_dir()
    assert not (tmp_path / "a").exists()
    with scenario_writer.writable(tmp_path / "b"):
        (tmp_path / "b" / "finding").touch()
    assert (tmp_path / "b").exists()


def test_no_finding_replaces_another(tmp_path: Path) -> None:
    first = scenario_writer.write_text("a name", "one", tmp_path)
    second = scenario_writer.write_text("a name", "two", tmp_path)
    assert [path.name for path in (first, second)] == ["a-name.yaml", "a-name-2.yaml"]
    assert scenario_writer.write_text("a name", "one", tmp_path) == first
    assert scenario_writer.write_text("a name", "two", tmp_path) == second
    assert (first.read_text(), second.read_text()) == ("one", "two")


def test_every_kind_of_failure_has_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tally = CampaignTally()
    for seed in range(20):
        tally.failures["mams", f"kind {seed}", "here"] = failing(seed, f"kind {seed}")
    small = msgspec.msgpack.encode

    def shrink(job: bytes) -> bytes:
        return small(failing(msgspec.msgpack.decode(job)["seed"], "shrunk"))

    assert outcome_of(small(failing(1))).failures
    files = cli.written(tally, Here(shrink), cli.ExploreOptions(out=tmp_path))
    assert len({path for path, _ in files}) == 20 and all(path.exists() for path, _ in files)
    assert sum("shrunk" in path.name for path, _ in files) == cli.SHRUNK_MAX
    said = " ".join(capsys.readouterr().err.split())
    assert "shrinking 12 of 20 kinds of failure; the others are written as they were found" in said


def test_the_hash_of_a_finding_is_that_of_its_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seed = failing_seed()
    monkeypatch.setattr(cli, "SHRUNK_TRIALS", 0)
    wish = ["--protocol", "mams", "--mutation", BUG, "--seeds", f"{seed}..{seed}"]
    assert entry(["explore", *wish, "--jobs", "1", "--out", str(tmp_path)]) == 1
    line = capsys.readouterr().out.splitlines()[0]
    found = re.fullmatch(r"\./cloverlab run (\S+)  # event log SHA-256 ([0-9a-f]{64})", line)
    assert found
    assert entry(["run", found[1], "-o", "json"]) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out)["log_sha256"] == found[2]
    assert f"event log SHA-256 {found[2]}\n" in captured.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--all", "--protocol", "mams"], "--protocol or --all: one of them"),
        (["--all", "--minutes", "nan"], "nan is not a finite number"),
        (["FILE", "--dask", "tcp://x:1"], "--dask, --on and --scale are for files with a trial"),
        (["FILE", "--on", "processes"], "--dask, --on and --scale are for files with a trial"),
        (["FILE", "--mutation", "off_by_one_quorum"], "the file names its own"),
    ],
)
def test_options_that_would_be_ignored_are_refused(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "fails.yaml").write_text(FAILS)
    given = [str(tmp_path / "fails.yaml") if word == "FILE" else word for word in arguments]
    assert entry(["explore", *given]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1


@pytest.mark.parametrize("option", ["--until", "--step", "--scale"])
@pytest.mark.parametrize("word", ["nan", "inf", "-inf"])
def test_a_run_takes_finite_numbers(option: str, word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert entry(["run", "scenarios/faults/isolated-active.yaml", option, word]) == 2
    said = capsys.readouterr().err
    assert option in said and said.count("\n") == 1


# --- the steps of a scenario -------------------------------------------------------------------------------------------


def test_steps_that_fail_are_searched_and_shortened(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "fails.yaml").write_text(FAILS)
    wish = ["--seeds", "4..6", "--jobs", "1", "--out", str(tmp_path)]
    assert entry(["explore", str(tmp_path / "fails.yaml"), *wish]) == 1
    captured = capsys.readouterr()
    assert "0 of 3 seeds held" in captured.err and "seed 4 fails with 2 of 3 steps" in captured.err
    [scenario] = read(Path(captured.out.split()[-1]))
    assert scenario.seed == 4 and [step.fault for step in scenario.steps] == [None, "crash", None]


def test_a_search_of_steps_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = count()
    monkeypatch.setattr(steps, "work", lambda job: held(job, True))
    monkeypatch.setattr(time, "monotonic", lambda: next(readings))
    tally = steps.searched(steps.SeedJob("x", 0, 0), None, 50, jobs=1)
    assert 3 < tally.seeds < 50 and not tally.incomplete


def held(job: bytes, well: bool) -> bytes:
    return msgspec.msgpack.encode(
        steps.SeedResult(msgspec.msgpack.decode(job, type=steps.SeedJob).seed, well)
    )


def test_ctrl_c_keeps_what_a_search_of_steps_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done = count()

    def work(job: bytes) -> bytes:
        if next(done) == 3:
            raise KeyboardInterrupt
        return held(job, False)

    monkeypatch.setattr(steps, "work", work)
    (tmp_path / "fails.yaml").write_text(FAILS)
    assert entry(["explore", str(tmp_path / "fails.yaml"), "--jobs", "1", "--out", str(tmp_path)]) == 1
    captured = capsys.readouterr()
    assert "0 of 3 seeds held" in captured.err and "stopped by Ctrl-C" in captured.err
    assert read(Path(captured.out.split()[-1]))[0].seed == 1


def test_ctrl_c_keeps_the_steps_that_are_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fails.yaml").write_text(FAILS)
    [scenario] = read(tmp_path / "fails.yaml")
    runs, real = count(), asyncio.run

    def run(main: Coroutine[Any, Any, Any]) -> Any:
        if next(runs) == 2:
            main.close()
            raise KeyboardInterrupt
        return real(main)

    monkeypatch.setattr(asyncio, "run", run)
    [kept] = read(steps.shortest_of(scenario, 4, tmp_path))
    assert [step.fault for step in kept.steps] == [None, "crash", None]


# --- progress ----------------------------------------------------------------------------------------------------------


def test_without_a_terminal_the_estimate_is_printed_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now_s[0])
    text = io.StringIO()
    with search_progress.search_progress(Console(file=text, width=200), 100) as show:
        for second in range(61):
            now_s[0] = float(second)
            show(second, f"{second} seeds")
    assert text.getvalue().splitlines() == [
        "21 seeds, 21% done, about 79 s left",
        "42 seeds, 42% done, about 58 s left",
    ]
    assert search_progress.estimate(0, 100, 5) == "0% done"
    assert search_progress.estimate(120, 100, 5) == "100% done"
