"""Back to the call or fault that caused an event, and forward to all its effects."""

from __future__ import annotations

from nodes.trace.causes import Causes
from nodes.trace.events import (
    AnyEvent,
    Applied,
    Called,
    Committed,
    Durable,
    FaultInjected,
    LockHeld,
    SessionEnded,
    Stamped,
    Started,
    StepTaken,
)
from nodes.trace.present import UNKNOWN, Cause, cause_in, change_of, with_cause

MS = 1_000_000


class ReportedStory:
    """Events by hand, a millisecond apart."""

    def __init__(self) -> None:
        self.events: list[Stamped] = []

    def __call__(self, server: str, event: AnyEvent, cause: Cause = ("", 0)) -> Stamped:
        number = 1 + sum(each.server == server for each in self.events)
        at_ns = (1 + len(self.events)) * MS
        by = "" if cause[0] == server else cause[0]
        self.events.append(Stamped(server, 1, number, at_ns, cause[1], event, by))
        return self.events[-1]


def durable(sn: int) -> Durable:
    return Durable(sn, 1, 1, 0, 1, 10)


def committed(sn: int, *operations: tuple[str, int]) -> Committed:
    return Committed("g1", sn, 1, 0, ["mds1", "mds2"], 1, list(operations))


def called(number: int) -> Called:
    return Called("ada.1", number, ["Mkdir", "/a"], 1, 2, None, "", "mds1", 1, 1, 1, 1)


def a_write() -> tuple[ReportedStory, list[Stamped]]:
    """Call 7: durable on mds1, on mds2, committed with call 8, answered."""
    reported = ReportedStory()
    first = reported("mds1", durable(3), ("ada.1", 7))
    second = reported("mds2", durable(3), ("mds1", 1))
    third = reported("mds1", committed(3, ("ada.1", 7), ("ada.1", 8)), ("mds2", 1))
    fourth = reported("ada", called(7), ("mds1", 2))
    fifth = reported("ada", called(8), ("mds1", 2))
    return reported, [first, second, third, fourth, fifth]


def test_an_answer_goes_back_over_every_server_to_its_call() -> None:
    reported, (first, second, third, fourth, _) = a_write()
    causes = Causes(reported.events)
    assert causes.back(fourth) == [fourth, first, second, third, fourth]
    assert causes.root(third) == ("ada.1", 7) and causes.call(("ada.1", 7)) is fourth


def test_a_report_without_a_cause_goes_back_over_the_commit_of_its_call_or_to_the_call_itself() -> None:
    """Answers carry no cause between processes."""
    reported, (first, second, third, *_) = a_write()
    written, read = reported("bob", called(7)), reported("bob", called(9))
    reported("mds1", committed(4, ("ada.1", 7)), ("mds1", 1))
    causes = Causes(reported.events)
    assert causes.back(written)[1:] == [first, second, third, written]
    assert causes.root(written) == ("ada.1", 7)
    assert causes.root(read) == ("ada.1", 9) and causes.back(read) == [read, read]


def test_a_report_of_a_call_that_a_takeover_committed_goes_back_to_the_call() -> None:
    """The next active answers a later copy of the call."""
    reported = ReportedStory()
    reported("mds1", durable(3), ("ada.1", 7))
    crash = reported("control", FaultInjected(1, "crash", ["mds1"], {}))
    commit = reported("mds2", committed(3, ("ada.1", 7)), ("control", 1))
    report = reported("ada", called(7))
    causes = Causes(reported.events)
    assert causes.back(commit) == [crash, commit]
    assert causes.back(report) == [report, report] and (1, commit) in causes.forward(report)


def test_everything_that_followed_on_a_call_is_found_with_its_depth() -> None:
    reported, (first, second, third, fourth, fifth) = a_write()
    assert Causes(reported.events).forward(fourth) == [
        (0, fourth),
        (1, first),
        (2, second),
        (3, third),
        (4, fifth),
    ]
    assert [each for _, each in Causes(reported.events).forward(second)] == [second, third, fourth, fifth]


def test_a_call_that_joined_a_group_leads_to_its_commit() -> None:
    reported, (*_, third, _, fifth) = a_write()
    assert (1, third) in Causes(reported.events).forward(fifth)


def test_the_order_in_which_events_are_given_is_of_no_account() -> None:
    reported, (first, second, third, fourth, _) = a_write()
    assert Causes(reported.events[::-1]).back(fourth) == [fourth, first, second, third, fourth]


def test_a_walk_ends_at_what_is_not_known_and_at_a_circle() -> None:
    reported = ReportedStory()
    lonely = reported("mds1", durable(1), ("mds9", 4))
    one = reported("mds2", durable(1), ("mds3", 1))
    other = reported("mds3", durable(1), ("mds2", 1))
    causes = Causes(reported.events)
    assert causes.back(lonely) == [lonely] and causes.root(lonely) == ("mds1", 1)
    assert causes.back(one) == [other, one]
    assert len(causes.forward(one)) == 2
    assert causes.walk(("mds9", 4)) == []


def test_the_start_of_a_process_goes_back_to_the_fault_that_named_it() -> None:
    reported = ReportedStory()
    reported("control", FaultInjected(1, "crash", ["mds1"], {}))
    restart = reported("control", FaultInjected(2, "restart", ["mds1"], {}))
    reported("control", FaultInjected(3, "crash", ["mds2"], {}))
    started = reported("mds1", Started(9, "", 0))
    assert Causes(reported.events).back(started) == [restart, started]


def test_a_lock_that_is_free_goes_back_to_the_fault_at_its_owner() -> None:
    reported = ReportedStory()
    reported("coordination", LockHeld("g1", "mds1"))
    crash = reported("control", FaultInjected(1, "crash", ["mds1"], {}))
    reported("control", FaultInjected(2, "crash", ["mds2"], {}))
    free = reported("coordination", LockHeld("g1", ""))
    ended = reported("coordination", SessionEnded("mds1", 1, "expired"))
    causes = Causes(reported.events)
    assert causes.back(free) == [crash, free] and causes.back(ended) == [crash, ended]


def test_a_watch_that_fired_is_the_last_change_of_its_node() -> None:
    reported = ReportedStory()
    reported("coordination", LockHeld("g1", "mds1"))
    freed = reported("coordination", LockHeld("g1", ""))
    draw = reported(
        "mds2",
        StepTaken("election", "draw", "CFS §4.2.1", "the lock is free", 1),
        change_of("/cloverlab/groups/g1/lock", freed.at_ns),
    )
    reported("coordination", LockHeld("g1", "mds2"))
    assert Causes(reported.events).back(draw) == [freed, draw]


def test_a_change_that_was_reported_late_is_what_a_watch_fired_for_and_an_old_one_is_not() -> None:
    reported = ReportedStory()
    reported("coordination", LockHeld("g1", "mds1"))
    path, at_ns = "/cloverlab/groups/g1/lock", 3_000_000_000
    draws = [
        Stamped("mds2", 1, number, at_ns, cause[1], Applied(1, 1, 0), cause[0])
        for number, cause in ((1, change_of(path, at_ns)), (2, change_of(path, 2 * at_ns)))
    ]
    free = Stamped("coordination", 1, 2, at_ns + 40_000_000, 0, LockHeld("g1", ""))
    causes = Causes([*reported.events, *draws, free])
    assert causes.back(draws[0]) == [free, draws[0]] and causes.back(draws[1]) == [draws[1]]


def test_a_cause_that_is_none_stays_none_where_nothing_faulted() -> None:
    reported = ReportedStory()
    started = reported("mds1", Started(9, "", 0))
    applied = reported("mds1", Applied(1, 1, 0))
    assert Causes(reported.events).back(started) == [started]
    assert Causes(reported.events).back(applied) == [applied]


def test_a_node_of_the_view_names_the_cause_of_its_writer_and_other_data_stays() -> None:
    data = with_cause(b'{"owner":"mds1"}', ("mds1", 7))
    assert data == b'{"owner":"mds1","cause":["mds1",7]}' and cause_in(data) == ("mds1", 7)
    for plain in (b"", b"{}", b"[1]", b"\xff"):
        assert with_cause(plain, ("mds1", 7)) == plain and cause_in(plain) == UNKNOWN
    assert with_cause(data, UNKNOWN) == data
    for foreign in (None, b'{"cause":7}', b'{"cause":["mds1",-1]}', b'{"cause":["' + b"m" * 81 + b'",1]}'):
        assert cause_in(foreign) == UNKNOWN
