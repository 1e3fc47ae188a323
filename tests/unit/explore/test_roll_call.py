"""A server in step counts: it is configured, by its disk."""

from __future__ import annotations

import pytest

from nodes.explore.roll_call import RollCall
from nodes.families import family_named
from nodes.trace.base import Event
from nodes.trace.events import Configured, JournalOpened, Placed, Stamped


def counted(protocol: str, *events: tuple[str, Event]) -> list[str]:
    found = RollCall(family_named(protocol))
    for server, event in events:
        found.on_event(Stamped(server, 1, 1, 0, 0, event))
    return found.missing()


def opened(disk: int) -> tuple[str, Event]:
    return "mds2", JournalOpened(1, 0, 0, 0, 0, 0, disk)


def configured(**disks: int) -> tuple[str, Event]:
    return "coordination", Configured("g1", 2, list(disks), disks)


def placed(state: str) -> tuple[str, Event]:
    return "coordination", Placed("g1", "mds2", state, 1, 7)


@pytest.mark.parametrize(
    ("protocol", "state", "disk", "missing"),
    [
        ("mams", "standby", 22, []),
        ("mams", "standby", 23, ["mds2"]),
        ("mams", "active", 23, ["mds2"]),
        ("mams", "junior", 23, []),
        ("symmetric", "member", 23, ["mds2"]),
        ("packed-paxos", "secondary", 23, ["mds2"]),
    ],
)
def test_the_disk_of_a_server_in_step_is_the_recorded_one(
    protocol: str, state: str, disk: int, missing: list[str]
) -> None:
    assert counted(protocol, configured(mds1=11, mds2=22), opened(disk), placed(state)) == missing


@pytest.mark.parametrize(("protocol", "missing"), [("mams", ["mds2"]), ("packed-paxos", [])])
def test_a_server_in_step_is_a_member(protocol: str, missing: list[str]) -> None:
    """Servers that are added to a Paxos group follow it without counting."""
    assert counted(protocol, configured(mds1=11), opened(22), placed("standby")) == missing


@pytest.mark.parametrize("disks", [{}, {"jn1": 5}])
def test_members_beside_a_shared_journal_and_of_a_new_group_need_no_record(disks: dict[str, int]) -> None:
    record = "coordination", Configured("g1", 0, ["mds1"], disks)
    assert counted("qjm", record, opened(22), placed("standby")) == []


def test_a_disk_counts_that_was_opened_before_the_trial() -> None:
    assert counted("mams", configured(mds2=22), placed("standby")) == []
