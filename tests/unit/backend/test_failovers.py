import pytest

from backend.events.failovers import Failover, Failovers
from nodes.trace import events as e
from nodes.trace.base import Event
from nodes.trace.lease_events import LockRemoved
from tests.unit.backend.story import MS, Story, called


def splits(*reported: tuple[float, str, Event]) -> list[Failover]:
    story, found = Story(), []
    failovers = Failovers(lambda at_ns, split: found.append(split))
    for at_ms, server, event in reported:
        failovers.on_event(story(at_ms, server, event))
    return found


BEFORE = (
    (1, "coordination", e.LockHeld("g1", "mds1")),
    (5, "mds1", e.Serving("g1", 1, 0, 0)),
    (90, "client1", called(1, 90)),
)
TAKEOVER = (
    (5_000, "coordination", e.SessionEnded("mds1", 7, "expired")),
    (5_000, "coordination", e.LockHeld("g1", "")),
    (5_020, "coordination", e.LockHeld("g1", "mds3")),
    (5_050, "mds3", e.Serving("g1", 2, 10, 1)),
)


def test_the_split_of_a_crash() -> None:
    crash = (100, "control", e.FaultInjected(1, "crash", ["mds1"], {}))
    (split,) = splits(*BEFORE, crash, *TAKEOVER, (5_060, "client1", called(2, 5_060, "mds3", 2)))
    assert (split.detection_ms, split.election_ms, split.switch_ms, split.reconnect_ms) == (4_900, 20, 30, 10)
    assert (split.total_ms, split.old, split.new, split.epoch, split.fault_ns) == (
        4_960,
        "mds1",
        "mds3",
        2,
        100 * MS,
    )


def test_where_nobody_ever_held_a_lock_nothing_is_taken_over() -> None:
    served = [(at_ms, f"mds{at_ms}", e.Serving("g1", 1, 0, 0)) for at_ms in (1, 2, 3)]
    gone = (5_000, "coordination", e.SessionEnded("mds1", 7, "expired"))
    assert splits(*served, gone, (5_100, "mds2", e.Serving("g1", 2, 0, 0))) == []


def test_without_a_fault_the_last_answer_begins_it() -> None:
    (split,) = splits(*BEFORE, *TAKEOVER, (5_060, "client1", called(2, 5_060, "mds3", 2)))
    assert split.fault_ns == 90 * MS and split.detection_ms == 4_910


def test_an_answer_of_the_old_active_or_a_failed_call_does_not_end_it() -> None:
    late = (5_055, "client1", called(2, 5_055, "mds1", 1))
    failed = (5_058, "client1", called(3, 5_058, "mds3", 2, error="ETIMEDOUT"))
    assert splits(*BEFORE, *TAKEOVER, late, failed) == []
    (split,) = splits(*BEFORE, *TAKEOVER, late, failed, (5_070, "client1", called(4, 5_070, "mds3", 2)))
    assert split.reconnect_ms == 20


@pytest.mark.parametrize(
    "harmless",
    [
        ((20, "control", e.FaultInjected(1, "corrupt", ["mds1"], {})),),
        (
            (20, "control", e.FaultInjected(1, "slow_disk", ["mds1"], {})),
            (60, "control", e.FaultEnded(1, "slow_disk", ["mds1"])),
        ),
    ],
)
def test_a_fault_that_the_active_survived_does_not_begin_it(
    harmless: tuple[tuple[float, str, Event], ...],
) -> None:
    crash = (100, "control", e.FaultInjected(2, "crash", ["mds1"], {}))
    *before, answered = BEFORE
    (split,) = splits(*before, *harmless, answered, crash, *TAKEOVER, ANSWERED)
    assert split.fault_ns == 100 * MS and split.detection_ms == 4_900


def test_a_fault_in_force_begins_it_though_calls_are_answered_meanwhile() -> None:
    cut = (20, "control", e.FaultInjected(1, "cut", ["mds1", "coordination"], {}))
    *before, answered = BEFORE
    (split,) = splits(*before, cut, answered, *TAKEOVER, ANSWERED)
    assert split.fault_ns == 20 * MS


def test_a_fault_in_force_that_the_active_survived_for_a_session_does_not_begin_it() -> None:
    slow = (20, "control", e.FaultInjected(1, "slow_disk", ["mds1"], {}))
    late = (5_100, "client1", called(2, 5_100, took_ms=20))
    crash = (5_500, "control", e.FaultInjected(2, "crash", ["mds1"], {}))
    takeover = [(at_ms + 5_000, server, event) for at_ms, server, event in TAKEOVER]
    answered = (10_060, "client1", called(3, 10_060, "mds3", 2))
    (split,) = splits(*BEFORE, slow, late, crash, *takeover, answered)
    assert split.fault_ns == 5_500 * MS and split.detection_ms == 4_500


def test_a_fault_that_ended_long_before_does_not_begin_it_though_nobody_called() -> None:
    pause = (1_000, "control", e.FaultInjected(1, "pause", ["mds1"], {}))
    resumed = (1_500, "control", e.FaultEnded(1, "pause", ["mds1"]))
    crash = (9_000, "control", e.FaultInjected(2, "crash", ["mds1"], {}))
    takeover = [(at_ms + 8_000, server, event) for at_ms, server, event in TAKEOVER]
    answered = (13_060, "client1", called(3, 13_060, "mds3", 2))
    (split,) = splits(*BEFORE, pause, resumed, crash, *takeover, answered)
    assert split.fault_ns == 9_000 * MS and split.detection_ms == 4_000


def test_a_fault_at_a_standby_is_none_of_its() -> None:
    assert (
        splits(
            *BEFORE,
            (100, "control", e.FaultInjected(1, "crash", ["mds2"], {})),
            (120, "client1", called(2, 120)),
        )
        == []
    )


def test_the_lock_taken_away_while_the_session_lives() -> None:
    taken = (200, "control", e.FaultInjected(1, "take_lock", ["g1", "mds1"], {}))
    (split,) = splits(
        *BEFORE,
        taken,
        (203, "coordination", e.LockHeld("g1", "")),
        (203, "coordination", e.Placed("g1", "mds1", "", 0, 0)),
        (230, "coordination", e.LockHeld("g1", "mds2")),
        (260, "mds2", e.Serving("g1", 2, 4, 4)),
        (262, "client1", called(2, 262, "mds2", 2)),
    )
    assert (split.detection_ms, split.election_ms, split.switch_ms, split.reconnect_ms) == (3, 27, 30, 2)


def test_a_takeover_that_no_client_noticed_is_reported_at_the_next() -> None:
    again = ((9_000, "coordination", e.LockHeld("g1", "")), (9_010, "coordination", e.LockHeld("g1", "mds2")))
    (split,) = splits(*BEFORE, *TAKEOVER, *again, (9_020, "mds2", e.Serving("g1", 3, 12, 1)))
    assert split.new == "mds3" and split.reconnect_ms is None


SILENCE = LockRemoved("g1", "mds1", "silence", ["mds2", "mds3"])
DEATH = LockRemoved("g1", "mds1", "death", [])
ANSWERED = (5_060, "client1", called(2, 5_060, "mds3", 2))


@pytest.mark.parametrize(
    ("found", "evidence"),
    [
        (TAKEOVER[:1], "session"),
        (((4_990, "mds2", SILENCE),), "silence"),
        (((5_010, "control", DEATH), (5_011, "coordination", e.SessionEnded("mds1", 7, "expired"))), "death"),
        ((), ""),
    ],
)
def test_the_split_says_what_ended_the_old_role(
    found: tuple[tuple[float, str, Event], ...], evidence: str
) -> None:
    reported = sorted([*BEFORE, *TAKEOVER[1:], *found, ANSWERED], key=lambda each: each[0])
    (split,) = splits(*reported)
    assert split.evidence == evidence
