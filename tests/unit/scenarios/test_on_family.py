"""Scenarios translated to another family, and the reasons of refusals."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from backend.errors import Malformed
from backend.scenarios import family_matrix
from backend.scenarios.family_translation import impossible, on_family
from backend.scenarios.reader import read
from backend.scenarios.report import COLOURS
from nodes.families import FAMILIES
from nodes.roles import LETTERS

ROOT = Path(__file__).resolve().parents[3]
SCENARIOS = ROOT / "scenarios"
PAGE = (ROOT / "docs" / "scenarios-by-family.md").read_text()


@pytest.mark.parametrize(
    ("file", "protocol", "reported"),
    [
        ("groups/rename-storm", "symmetric", "it has 2 groups, symmetric runs 1"),
        ("faults/view-changes-under-load", "qjm", "force_view is for families without a lock"),
        ("faults/crash-the-active", "single", "it takes the server away, and no server takes over"),
        ("faults/flapping-link", "single", "it needs standbys"),
        ("faults/crash-during-upgrade", "symmetric", "its takeover has no step upgrade 1"),
        ("baselines/qjm-loses-the-active", "symmetric", "it targets jn1, symmetric has no such node"),
        ("baselines/qjm-loses-the-active", "avatar", "it targets jn1, without which no server answers"),
        ("baselines/backupnode-loses-a-write", "mams", "it shows the writes that backupnode loses"),
        ("labs/async-flush", "symmetric", "it shows the writes that mams loses"),
        ("faults/calm", "raft", "the protocol 'raft' is unknown"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(file: str, protocol: str, reported: str) -> None:
    scenario = read(SCENARIOS / f"{file}.yaml")[0]
    with pytest.raises(Malformed) as refused:
        on_family(scenario, protocol)
    assert reported in refused.value.message and "\n" not in refused.value.message


@pytest.mark.parametrize(
    ("protocol", "letters"), [("packed-paxos", "PSS-"), ("symmetric", "MMM-"), ("qjm", "ASS-")]
)
def test_a_row_is_said_in_the_letters_of_the_family(protocol: str, letters: str) -> None:
    scenario = on_family(read(SCENARIOS / "faults/crash-the-active.yaml")[0], protocol)
    assert [step.expect.roles for step in scenario.steps if step.expect and step.expect.roles] == [letters]
    assert scenario.expect.invariants == "all" and scenario.expect.failed_calls == 0


def test_a_family_that_needs_a_majority_gets_the_servers_that_leave_one() -> None:
    scenario = on_family(read(SCENARIOS / "faults/two-crashes-at-once.yaml")[0], "packed-paxos")
    assert scenario.cluster.standbys == 4
    assert [step.expect.roles for step in scenario.steps if step.expect and step.expect.roles] == ["PS--S"]


@pytest.mark.parametrize(
    ("file", "protocol", "expected"),
    [
        ("papers/cfs-table3-a", "symmetric", [("force_view", "g1")] * 3),
        ("baselines/qjm-loses-the-active", "bookkeeper", [("crash", "bookie1"), ("crash", "active of g1")]),
        ("baselines/bookkeeper-replaces-a-bookie", "hadoop-ha", [("crash", "jn1"), ("crash", "jn2")]),
        ("faults/power-loss-of-all", "single", [("power_loss", "mds1")]),
    ],
)
def test_a_step_is_in_the_terms_of_the_family(
    file: str, protocol: str, expected: list[tuple[str, str]]
) -> None:
    scenario = on_family(read(SCENARIOS / f"{file}.yaml")[0], protocol)
    assert [(s.fault, s.target) for s in scenario.steps if s.fault and s.fault != "restart"] == expected


def test_a_single_server_may_be_away_for_less_than_the_longest_outage() -> None:
    scenario = read(SCENARIOS / "faults/power-loss-of-all.yaml")[0]
    brief = msgspec.structs.replace(scenario.expect, longest_outage="2s")
    with pytest.raises(Malformed, match="no server takes over"):
        on_family(msgspec.structs.replace(scenario, expect=brief), "single")


def test_what_cannot_even_be_done_is_reported_apart_from_what_is_not_expected() -> None:
    """A comparison leaves expectations out, and runs everything that the family can."""
    crash, upgrade = (
        read(SCENARIOS / f"faults/{name}.yaml")[0] for name in ("crash-the-active", "crash-during-upgrade")
    )
    assert list(impossible(crash, "single")) == []
    assert list(impossible(upgrade, "symmetric")) == ["its takeover has no step upgrade 1"]
    lab = read(SCENARIOS / "labs/async-flush.yaml")[0]
    assert list(impossible(lab, "symmetric")) == ["it opens async_flush, symmetric has no such hole"]


def test_its_own_family_plays_a_file_as_it_is() -> None:
    for path in family_matrix.files():
        for scenario in read(path):
            assert on_family(scenario, scenario.cluster.protocol) is scenario


def test_the_page_reports_what_is_refused_and_nothing_that_did_not_hold() -> None:
    rows = {
        cells[0]: dict(zip(FAMILIES, cells[1:], strict=True))
        for line in PAGE.splitlines()
        if len(cells := [cell.strip() for cell in line.strip("|").split("|")]) == 1 + len(FAMILIES)
    }
    for path in family_matrix.files():
        reported = rows[family_matrix.shown(path)]
        refused = {name for name, word in reported.items() if word == family_matrix.REFUSED}
        assert refused == set(family_matrix.refusals(path)), path
        assert all(
            word.startswith(family_matrix.HELD) for name, word in reported.items() if name not in refused
        ), path


def test_a_report_has_a_colour_for_the_letters_of_every_family() -> None:
    assert set(LETTERS.values()) == set(COLOURS)
