"""Active and idle jobs (SAA §6, Fig. 4)."""

from __future__ import annotations

from collections.abc import Generator, Hashable

from nodes.protocols.symmetric.scheduler import AGAIN, ScheduledCall, Scheduler


def job(name: str, reported: list[str], *events: Hashable) -> ScheduledCall:
    def steps() -> Generator[Hashable, None, None]:
        for event in events:
            reported.append(f"{name} until {event}")
            yield event
        reported.append(f"{name} ends")

    return ScheduledCall(name, 1, steps())


def test_a_blocked_job_goes_idle_and_comes_back() -> None:
    reported: list[str] = []
    scheduler = Scheduler()
    scheduler.add(job("a", reported, 7, "lease"))
    scheduler.add(job("b", reported))
    scheduler.run()
    assert reported == ["a until 7", "b ends"]
    scheduler.wake(6)
    scheduler.run()
    scheduler.wake(7)
    assert (scheduler.active, len(scheduler)) == (1, 1)
    scheduler.run()
    scheduler.wake("lease")
    scheduler.run()
    assert reported[2:] == ["a until lease", "a ends"] and len(scheduler) == 0


def test_who_waits_for_the_same_comes_back_in_order_and_no_more_than_wanted() -> None:
    reported: list[str] = []
    scheduler = Scheduler()
    for name in "abc":
        scheduler.add(job(name, reported, "turn"))
    scheduler.run()
    scheduler.wake("turn", 2)
    scheduler.run()
    assert reported[3:] == ["a ends", "b ends"] and scheduler.waiting_for("turn") == 1


def test_a_long_job_lets_others_go_first() -> None:
    reported: list[str] = []
    scheduler = Scheduler()
    scheduler.add(job("long", reported, AGAIN, AGAIN))
    scheduler.run()
    scheduler.add(job("short", reported))
    scheduler.run()
    assert reported == ["long until again", "long until again", "short ends"] and scheduler.active == 1
    scheduler.run()
    assert reported[-1] == "long ends"


def test_all_look_again_but_those_who_wait_for_one_thing() -> None:
    reported: list[str] = []
    scheduler = Scheduler()
    for name, event in (("a", "turn"), ("b", 3), ("c", "lease")):
        scheduler.add(job(name, reported, event))
    scheduler.run()
    scheduler.wake_all(but="turn")
    scheduler.run()
    assert reported[3:] == ["b ends", "c ends"]


def test_jobs_that_are_ended_do_nothing_more() -> None:
    reported: list[str] = []
    closed: list[str] = []

    def steps() -> Generator[Hashable, None, None]:
        try:
            yield 1
            reported.append("never")
        finally:
            closed.append("closed")

    scheduler = Scheduler()
    scheduler.add(ScheduledCall("a", 5, steps()))
    scheduler.add(job("b", reported, AGAIN))
    scheduler.run()
    assert {each.peer for each in scheduler.clear()} == {"a", "b"}
    assert closed == ["closed"] and len(scheduler) == scheduler.active == 0
    scheduler.wake(1)
    scheduler.run()
    assert reported == ["b until again"]
