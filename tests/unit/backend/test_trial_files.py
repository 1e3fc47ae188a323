"""A file with a trial is shrunk later, and run in steps of virtual time."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.cli import entry
from backend.explore import scenario_writer, trial_shrinker
from backend.explore.stepper import SteppedStage
from backend.scenarios.reader import read
from nodes.config import SECOND, one_group
from nodes.explore.plan import Caller, Failure, Fault, Plan, PlanOutcome
from nodes.explore.trial import Trial, run
from tests.failing_seed import failing_seed, plan_with_bug


def file_of(directory: Path, plan: Plan) -> Path:
    return scenario_writer.write(
        PlanOutcome(plan, [Failure("no lost write", "here", "it is gone")]), directory
    )


def test_a_failing_file_is_shrunk_beside_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = plan_with_bug(failing_seed())
    file = file_of(tmp_path, plan)
    assert entry(["explore", str(file), "--shrink", "--minutes", "0.2"]) == 1
    command = capsys.readouterr().out.split()
    shrunk = Path(command[2])
    assert command[:2] == ["./cloverlab", "run"] and shrunk == tmp_path / f"{file.stem}-shrunk.yaml"
    core = read(shrunk)[0].plan()
    assert (core.calls, len(core.faults)) < (plan.calls, len(plan.faults)) and not run(core).clean
    assert entry(["run", str(shrunk)]) == 1


def test_ctrl_c_keeps_the_smaller_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    faults = [Fault("pause", [f"mds{number}"]) for number in (1, 2, 3)]
    plan, trials = Plan(1, one_group(2), faults=faults), iter(range(100))

    def fails_so(candidate: Plan, failure: Failure) -> bool:
        if next(trials) == 4:
            raise KeyboardInterrupt
        return len(candidate.faults) > 1

    monkeypatch.setattr(trial_shrinker, "fails_so", fails_so)
    monkeypatch.setattr(
        trial_shrinker, "bounded", lambda plan: PlanOutcome(plan, [Failure("service", "core", "none")])
    )
    result = trial_shrinker.shrink_file(tmp_path / "whole.yaml", plan)
    assert result.failed and result.document()["files"] == [str(tmp_path / "whole-shrunk.yaml")]
    assert len(read(tmp_path / "whole-shrunk.yaml")[0].plan().faults) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["explore", "--shrink"], "explore --shrink takes a file with a trial"),
        (
            ["explore", "scenarios/faults/isolated-active.yaml", "--shrink"],
            "explore --shrink takes a file with a trial",
        ),
        (
            ["run", "scenarios/faults/isolated-active.yaml", "--until", "3"],
            "--until and --step pause the trial of a file",
        ),
    ],
)
def test_files_without_a_trial_get_one_line(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert entry(arguments) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1


def test_a_trial_that_holds_is_not_shrunk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert entry(["explore", str(file_of(tmp_path, Plan(1, one_group(2), span_ms=1))), "--shrink"]) == 2
    assert "does not fail on the simulator" in capsys.readouterr().err


PAUSED = Plan(
    3,
    one_group(2),
    callers=[Caller("c1", ["mkdir /d", "create /d/f", "stat /d"], pause_us=400_000)],
    faults=[Fault("pause", ["standby of g1"], at_ms=300, for_ms=2_000)],
    span_ms=3_000,
)


def test_a_trial_is_paused_at_a_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert entry(["run", str(file_of(tmp_path, PAUSED)), "--until", "1"]) == 0
    said = capsys.readouterr().out
    assert "paused at 1.0000 s" in said and "faults in force: pause mds" in said
    assert "c1: 2 of 3 calls answered" in said or "c1: 3 of 3 calls answered" in said


def test_a_trial_goes_on_step_by_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = iter(["", ""])

    def answer(prompt: str) -> str:
        try:
            return next(answers)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", answer)
    assert entry(["run", str(file_of(tmp_path, PAUSED)), "--until", "0.5", "--step", "2"]) == 0
    said = capsys.readouterr().out
    assert [word for word in ("0.5000", "2.5000", "4.5000", "6.5000") if f"paused at {word} s" in said] == [
        "0.5000", "2.5000", "4.5000",
    ]  # fmt: skip


def test_pauses_change_nothing() -> None:
    stage = SteppedStage(PAUSED, SECOND // 7, lambda: stage.now_ns + SECOND // 7)
    assert Trial(PAUSED, stage=stage).run().log_sha256 == run(PAUSED).log_sha256
