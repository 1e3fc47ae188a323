"""Causes between real processes: over sockets, kazoo and a killed process, back to the call or the fault."""

from __future__ import annotations

import asyncio

import uvloop

from benchmarks._cluster import cluster
from nodes.config import Timing, WorkloadConfig, one_group
from nodes.trace.causes import Causes, place_of
from nodes.trace.events import (
    Called,
    Committed,
    Configured,
    Durable,
    EpochRaised,
    FaultInjected,
    LockHeld,
    Placed,
    Serving,
    Stamped,
    Started,
    StepTaken,
)
from nodes.trace.story import story
from tests.slowness import slower

TIMING = Timing(heartbeat_ms=300, session_timeout_ms=1_500)


async def events_of_a_failover() -> list[Stamped]:
    reported: list[Stamped] = []

    def on_event(stamped: Stamped) -> None:
        reported.append(stamped)

    def served() -> list[Stamped]:
        return [each for each in reported if isinstance(each.event, Serving)]

    load = WorkloadConfig(clients=2, rate_per_s=20, mix={"mkdir": 1})
    config = one_group(standbys=2, timing=TIMING)
    async with cluster(on_event, workload=load, config=config) as bench:
        await bench.until(lambda: sum(isinstance(each.event, Called) for each in reported) > 20, slower(30))
        old = served()[-1].server
        await bench.faults.do("crash", [old])
        await bench.until(lambda: len(served()) > 1, slower(30))
        await asyncio.sleep(1)
        await bench.faults.do("restart", [old])
        await bench.until(
            lambda: sum(each.server == old and isinstance(each.event, Started) for each in reported) > 1
        )
        await asyncio.sleep(1)
    return reported


def was_renewed(steps: list[Stamped]) -> bool:
    """Whether the steps go through a renewal: a junior's groups follow from that, not from their calls."""
    return any(isinstance(each.event, StepTaken) and each.event.procedure == "renewing" for each in steps)


def synced_for_reported_calls(reported: list[Stamped]) -> list[Stamped]:
    """The groups synced before the last report of any client: the call of a later one may be under way when the cluster stops."""
    last = {each.event.client: each.at_ns for each in reported if isinstance(each.event, Called)}
    return [
        each
        for each in reported
        if isinstance(each.event, Durable) and each.event.records and each.at_ns < min(last.values())
    ]


def test_calls_takeovers_and_starts_go_back_to_what_led_to_them() -> None:
    reported = uvloop.run(events_of_a_failover())
    causes = Causes(reported)
    assert any(each.carrier == "Prepare" for each in reported if isinstance(each.event, Durable))
    answers = [each for each in reported if isinstance(each.event, Called) and not each.event.error]
    over_others = 0
    for answer in answers:
        back = causes.back(answer)
        assert causes.call(causes.root(answer)) is not None, story(reported, place_of(answer))
        over_others += len({each.server for each in back}) >= 3 and any(
            isinstance(each.event, Committed) for each in back
        )
    assert over_others > len(answers) // 2

    for each in synced_for_reported_calls(reported):
        assert causes.call(causes.root(each)) or was_renewed(causes.back(each)), story(
            reported, place_of(each)
        )
    followers = [each for _, each in causes.forward(answers[-1])]
    assert (
        any(isinstance(each.event, Durable) for each in followers)
        and len({each.server for each in followers}) >= 3
    )

    takeover = [each for each in reported if isinstance(each.event, Serving)][-1]
    assert isinstance(causes.back(takeover)[0].event, FaultInjected), story(reported, place_of(takeover))
    begun = takeover.event.epoch  # type: ignore[union-attr]
    crash = next(each for each in reported if isinstance(each.event, FaultInjected))
    for kind, changed in (
        (LockHeld, lambda event: event.owner == takeover.server),
        (EpochRaised, lambda event: event.epoch == begun),
        (Placed, lambda event: event.state == "active" and event.epoch == begun),
        (Configured, lambda event: True),
    ):
        later = [each for each in reported if isinstance(each.event, kind) and each.at_ns > crash.at_ns]
        changes = [each for each in later if changed(each.event)]
        back = causes.back(changes[0])
        assert isinstance(back[0].event, FaultInjected), story(reported, place_of(changes[0]))
        assert back[-2].server == takeover.server
    again = [
        each
        for each in reported
        if isinstance(each.event, Started) and each.boot > 1 and each.server.startswith("mds")
    ]
    assert again and isinstance(causes.back(again[-1])[0].event, FaultInjected)
