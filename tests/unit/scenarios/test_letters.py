"""Rows from events, and the server names under which expected rows must appear."""

from __future__ import annotations

import pytest

from backend.scenarios.letters import LetterRow, Rows, match
from nodes.trace.base import Event
from nodes.trace.events import FaultEnded, FaultInjected, LockHeld, Placed, Serving, Stamped

SERVERS = ["mds1", "mds2", "mds3", "mds4"]
STATES = {"A": "active", "S": "standby", "J": "junior", "-": ""}


class Story:
    def __init__(self) -> None:
        self.rows = Rows("g1", SERVERS)
        self.number = 0

    def report(self, at_ns: int, *events: Event) -> None:
        for event in events:
            self.number += 1
            self.rows.on_event(Stamped("x", 1, self.number, at_ns, 0, event))  # type: ignore[arg-type]

    def view(self, at_ns: int, letters: str) -> None:
        before = self.rows.all[-1].letters if self.rows.all else "----"
        changed = [n for n in range(4) if letters[n] != before[n]]
        self.report(at_ns, *(Placed("g1", SERVERS[n], STATES[letters[n]], 1, 1) for n in changed))


def failover() -> Story:
    story = Story()
    story.view(1, "ASSS")
    story.report(1, Serving("g1", 1, 1, 0))
    story.report(5, FaultInjected(1, "crash", ["mds1"], {}))
    story.view(9, "-SSS")
    story.report(9, LockHeld("g1", ""))
    story.view(10, "-SAS")
    story.report(11, Serving("g1", 2, 2, 0))
    story.report(20, FaultEnded(1, "crash", ["mds1"]))
    story.view(21, "JSAS")
    story.view(22, "SSAS")
    return story


def letters_of(story: Story) -> list[str]:
    return [row.letters for row in story.rows.all]


def test_changes_of_one_moment_are_one_row() -> None:
    assert letters_of(failover()) == ["ASSS", "-SSS", "-SAS", "JSAS", "SSAS"]


def test_whoever_of_the_standbys_is_elected_it_is_the_expected_row() -> None:
    found = match(failover().rows.all, ["A S S S", "-SSS", "-ASS", "SASS"], any_order=True)
    assert found == ["JSAS"]


def test_without_renaming_the_order_counts() -> None:
    reported = match(failover().rows.all, ["ASSS", "-SSS", "-ASS"], any_order=False)
    assert isinstance(reported, str) and "-ASS never came" in reported


def test_a_row_out_of_nowhere_is_not_allowed() -> None:
    story = failover()
    story.view(30, "S-AS")
    reported = match(story.rows.all, ["ASSS", "-SSS", "-ASS", "SASS"], any_order=True)
    assert isinstance(reported, str) and "without a transition under way" in reported


def test_while_something_is_under_way_other_rows_are_listed() -> None:
    story = failover()
    story.report(29, FaultInjected(2, "pause", ["mds2"], {}))
    story.view(30, "S-AS")
    found = match(story.rows.all, ["ASSS", "-SSS", "-ASS", "SASS"], any_order=True)
    assert found == ["JSAS", "S-AS"]


def test_a_standby_that_fell_out_of_step_is_listed() -> None:
    story = failover()
    story.view(30, "JSAS")
    story.view(31, "SSAS")
    found = match(story.rows.all, ["ASSS", "-SSS", "-ASS", "SASS"], any_order=True)
    assert found == ["JSAS", "JSAS", "SSAS"]


def test_rows_of_another_length_are_reported() -> None:
    assert "roles" in str(match([LetterRow(1, "AS", False)], ["ASS"], True))


def rows_of(letters: str) -> list[LetterRow]:
    return [LetterRow(at, row, True) for at, row in enumerate(letters.split())]


@pytest.mark.parametrize("came", ["ASSS -SSS -SAS SSAS SS-S AS-S ASSS", "ASSS -SSS -SSA SSSA SSS- SAS- SASS"])
def test_the_lock_falls_to_any_standby_each_time(came: str) -> None:
    expected = ["ASSS", "-SSS", "-ASS", "SASS", "S-SS", "S-AS", "SSAS"]
    assert match(rows_of(came), expected, any_order=True) == []


def test_a_server_with_another_past_is_not_the_expected_one() -> None:
    reported = match(rows_of("ASSS -SSS -ASS"), ["ASSS", "-SSS", "S-AS"], any_order=True)
    assert isinstance(reported, str) and "S-AS never came after -SSS" in reported
