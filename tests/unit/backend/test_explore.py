"""`explore` with invalid options, files of trials, and the results that remain when a search is interrupted."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import msgspec
import pytest

from backend.cli import entry
from backend.explore import scenario_writer
from backend.explore import work as work_module
from backend.explore.campaign import Campaign, Target, family_of_turn, shrunk
from backend.explore.executors import WorkersLost
from backend.explore.work import SIMULATED, TrialJob, bounded, encode, outcome_of, work
from backend.scenarios.reader import read
from nodes.config import one_group
from nodes.explore.draw import draw
from nodes.explore.plan import Failure, Fault, Plan, PlanOutcome


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "explore needs a scenario file, --protocol NAME or --all"),
        (["--protocol", "fax"], "the protocol 'fax' is unknown"),
        (["--all", "--seeds", "9..3"], "write A..B with A"),
        (["--all", "--seeds", "1..99999999"], "at most 1000000 seeds"),
        (["--all", "--mutation", "nothing"], "'nothing' is not a known mutation; there are join_under_load"),
        (["--all", "--hole", "nothing"], "'nothing' is not a known hole; there are"),
        (["--all", "--variant", "printed"], "the variant 'printed' is unknown; there are safe, paper"),
        (["nowhere.yaml"], "nowhere.yaml: No such file"),
    ],
)
def test_wrong_wishes_get_one_line(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert entry(["explore", *arguments]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1


def failing(seed: int) -> PlanOutcome:
    return PlanOutcome(
        draw(seed, "mams"), [Failure("no lost write", "here", "group 3 is gone: it had been answered")]
    )


def test_an_endless_trial_fails_and_one_that_waits_for_a_processor_does_not() -> None:
    limit = SIMULATED._replace(seconds=0.05)

    def spin(plan: Plan) -> PlanOutcome:
        while True:
            pass

    def wait(plan: Plan) -> PlanOutcome:
        time.sleep(0.2)
        return PlanOutcome(plan, [])

    plan = draw(1, "mams")
    assert [failure.invariant for failure in bounded(plan, spin, limit).failures] == ["an end"]
    assert bounded(plan, wait, limit).failures == []


def test_a_failure_becomes_a_file_that_runs(tmp_path: Path) -> None:
    outcome = failing(11)
    path = scenario_writer.write(outcome, tmp_path)
    [scenario] = read(path)
    assert scenario.plan() == outcome.plan and scenario.seed == 11
    assert path.name == "mams-no-lost-write-11.yaml"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("seed: 1\ntrial: {cluster: {protocol: mams}, callers: 3}", "Expected `array`"),
        ("seed: 1\ntrial: {cluster: {}, callers: [{name: c1, calls: [fly]}]}", "is no call"),
        ("seed: 1\ntrial: {cluster: {groups: []}}", "groups, not 0"),
        ("seed: 1\ntrial: {cluster: {}}\nsteps: [{at: 1s, mark: k1}]", "no steps"),
    ],
)
def test_a_wrong_trial_is_refused_with_its_line(
    tmp_path: Path, text: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "trial.yaml"
    path.write_text(f"name: a trial\nteaches: nothing\n{text}\n")
    assert entry(["run", str(path)]) == 2
    said = capsys.readouterr().err
    assert words in said and f"{path}:" in said and said.count("\n") == 1


def test_a_trial_does_not_run_in_containers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = scenario_writer.write(failing(11), tmp_path)
    assert entry(["run", str(path), "--on", "containers"]) == 2
    assert "a trial runs on the simulator or on processes, not in containers" in capsys.readouterr().err


class Dying:
    """Workers that are all lost after some results."""

    width = 2

    def __init__(self, after: int):
        self._after = after
        self._jobs: list[bytes] = []

    def submit(self, job: bytes) -> None:
        self._jobs.append(job)

    def results(self, timeout_s: float) -> Iterator[bytes]:
        if not self._after:
            raise WorkersLost("the Dask cluster has gone")
        self._after -= 1
        yield work(self._jobs.pop(0))

    def close(self) -> None:
        """Does nothing."""


def test_what_was_found_is_kept_when_the_workers_are_lost() -> None:
    tally = Campaign(Target(("single",)), Dying(3), range(1, 100), None).run()
    assert tally.seeds == 3 and tally.incomplete == "the Dask cluster has gone"


def test_a_seed_is_one_plan_wherever_it_runs() -> None:
    outcome = outcome_of(work(encode(TrialJob(4, "single"))))
    assert outcome.plan == draw(4, "single") and outcome.clean


def test_given_seeds_are_run_exactly() -> None:
    tally = Campaign(Target(("single", "mams")), Dying(4), range(5, 9), None).run()
    assert tally.seeds == 4 and tally.by_family == {"single": 2, "mams": 2}


@pytest.mark.parametrize("count", range(1, 13))
def test_families_take_turns_and_each_has_odd_and_even_seeds(count: int) -> None:
    turns = [family_of_turn(turn, count) for turn in range(8 * count)]
    for first in range(0, len(turns), count):
        assert sorted(turns[first : first + count]) == list(range(count))
    for family in range(count):
        assert sum(turn % 2 for turn, each in enumerate(turns) if each == family) == 4


def test_a_search_ends_by_the_clock_that_it_was_given() -> None:
    readings = count(100, 25)
    tally = Campaign(Target(("single",)), Dying(9), None, 100, clock=lambda: next(readings)).run()
    assert 0 < tally.seeds < 9 and not tally.incomplete and tally.took_s >= 100


class Late:
    """Workers that first return the trials that were under way when the search ended."""

    width = 1

    def __init__(self, before: list[PlanOutcome]):
        self._waiting = [msgspec.msgpack.encode(outcome) for outcome in before]

    def submit(self, job: bytes) -> None:
        self._waiting.append(msgspec.msgpack.encode(failing(msgspec.msgpack.decode(job, type=TrialJob).seed)))

    def results(self, timeout_s: float) -> Iterator[bytes]:
        yield self._waiting.pop(0)

    def close(self) -> None:
        """Does nothing."""


def test_trials_that_were_under_way_are_not_taken_for_shrunk_ones() -> None:
    done: list[int] = []
    shrunk(Late([failing(1), failing(2)]), [failing(3)], 10, lambda outcome: done.append(outcome.plan.seed))
    assert done == [3]


def test_a_failure_is_not_shrunk_to_another_one_of_the_same_invariant(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of the two faults each alone violates the invariant, in places of their own."""
    here, there = Fault("crash", ["mds1"]), Fault("pause", ["mds2"])
    places = {"crash": "Called and Committed", "pause": "Serving"}

    def bounded(plan: Plan) -> PlanOutcome:
        return PlanOutcome(plan, [Failure("one active", places[fault.verb], "") for fault in plan.faults])

    monkeypatch.setattr(work_module, "bounded", bounded)
    plan = Plan(1, one_group(2), faults=[here, there])
    for fault in (here, there):
        failure = Failure("one active", places[fault.verb], "")
        assert work_module.shrunk(plan, failure, 100).faults == [fault]


def test_a_search_whose_workers_are_lost_has_failed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("backend.explore.cli.ProcessExecutor", lambda jobs: Dying(2))
    assert entry(["explore", "--protocol", "single", "--seeds", "1..9"]) == 1
    assert "incomplete: the Dask cluster has gone" in capsys.readouterr().err


def test_the_seed_of_a_file_has_a_bound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "trial.yaml"
    path.write_text(f"name: a trial\nteaches: nothing\nseed: {10**23}\ntrial: {{cluster: {{}}}}\n")
    assert entry(["run", str(path)]) == 2
    said = capsys.readouterr().err
    assert f"{path}:3:" in said and said.count("\n") == 1
    path = scenario_writer.write(failing(11), tmp_path)
    assert entry(["run", str(path), "--seed", str(10**23)]) == 2


def test_a_wrong_fault_is_refused_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "trial.yaml"
    groups = "cluster: {groups: [{name: g1, number: 1, members: [mds1]}]}"
    path.write_text(
        f"name: a trial\nteaches: nothing\ntrial:\n  {groups}\n  faults:\n  - {{verb: crash, targets: [mds9]}}\n"
    )
    assert entry(["run", str(path)]) == 2
    said = capsys.readouterr().err
    assert f"{path}:6: nothing is called 'mds9'" in said and said.count("\n") == 1
