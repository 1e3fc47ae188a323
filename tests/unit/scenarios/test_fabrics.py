"""A file with a fault that its fabric cannot inject is refused before the cluster starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.errors import FaultImpossible, Malformed
from backend.run_command import run_command
from nodes.faults.model import MANY
from nodes.faults.table import VERBS

FILE = """
name: What only the simulator can do
teaches: that others say so
steps:
  - {{at: 1s, fault: take_lock, target: g1}}
  - {{at: 2s, fault: {fault}}}
end: {{at: 3s}}
"""
ALONE = [verb.verb for verb in VERBS if "processes" not in verb.fabrics]
OPTIONS = [
    ("power_loss, target: mds2, options: {torn: zeros}", "only the simulator has option torn of power_loss"),
    (
        "corrupt, target: mds2, options: {place: drawn}",
        "only the simulator has option place of corrupt",
    ),
    ("slow_disk, target: mds2, options: {share: 0.5}", "only the simulator has option share of slow_disk"),
    ("corrupt, target: mds2, options: {what: manifest}", "only the simulator has what manifest of corrupt"),
]


def written(directory: Path, fault: str) -> Path:
    file = directory / "file.yaml"
    file.write_text(FILE.format(fault=fault))
    return file


@pytest.mark.parametrize("on", ["processes", "containers"])
@pytest.mark.parametrize("verb", ALONE)
def test_a_verb_of_the_simulator_is_refused_in_one_line(tmp_path: Path, verb: str, on: str) -> None:
    file = written(tmp_path, f"{verb}, target: mds2")
    with pytest.raises(FaultImpossible, match=rf"^only the simulator .*; real servers cannot do {verb}$"):
        run_command(file, on, None, None, 1.0)


@pytest.mark.parametrize("verb", ["duplicate", "clog", "drift_clock", "gone", "fill_disk"])
def test_the_simulator_does_it(tmp_path: Path, verb: str) -> None:
    assert run_command(written(tmp_path, f"{verb}, target: mds2"), "simulated", None, None, 1.0) == 0


@pytest.mark.parametrize(("fault", "line"), OPTIONS)
def test_so_is_an_option_of_the_simulator(tmp_path: Path, fault: str, line: str) -> None:
    with pytest.raises(FaultImpossible, match=f"^{line}$"):
        run_command(written(tmp_path, fault), "processes", None, None, 1.0)


@pytest.mark.parametrize("on", ["simulated", "processes", "containers"])
@pytest.mark.parametrize(
    ("fault", "line"),
    [
        ("delay, target: mds2, options: {ms: soon}", "6: option ms of delay is a number of ms from 0 to 3600000, not 'soon'"),
        ("lose, target: mds2, options: {share: 2}", "6: option share of lose is a share from 0 to 1, not 2"),
        ("cut, target: mds2, options: {way: to}", "6: cut has no option 'way'; it has direction, island, others"),
        ("cut, target: [mds1, mds2, mds3]", "6: cut takes 1 to 2 targets, was given 3; more with island or others"),
        ("smash, target: mds2", "6: no fault is called 'smash'; there are crash, "),
    ],
)  # fmt: skip
def test_what_is_wrong_everywhere_is_said_alike(tmp_path: Path, fault: str, line: str, on: str) -> None:
    with pytest.raises(Malformed) as caught:
        run_command(written(tmp_path, fault), on, None, None, 1.0)
    assert f"file.yaml:{line}" in caught.value.message


def test_more_targets_go_with_an_island() -> None:
    cut = next(verb for verb in VERBS if verb.verb == "cut")
    assert (cut.most_targets({}), cut.most_targets({"island": True})) == (2, MANY)
