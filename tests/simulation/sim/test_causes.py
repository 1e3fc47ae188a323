"""Causes across servers: every event of a simulated cluster goes back to the call, fault or start that caused it."""

from __future__ import annotations

import random

import pytest

from nodes.config import MILLISECOND, SECOND
from nodes.explore.draw import SAFE, draw
from nodes.explore.trial import Trial
from nodes.metadata.operations import Mkdir
from nodes.sim.links import Links
from nodes.sim.loop import Loop
from nodes.sim.stream import SimStream
from nodes.sim.triggers import Trigger
from nodes.trace.causes import Causes, place_of
from nodes.trace.events import (
    Called,
    Commanded,
    Committed,
    Durable,
    FaultEnded,
    FaultInjected,
    Invoked,
    Serving,
    Stamped,
    Started,
    StepTaken,
    Warned,
)
from nodes.trace.present import Cause
from nodes.trace.story import story
from tests.simulation.mams.lab import Lab

ROOTS = (Started, FaultInjected, FaultEnded, Commanded, Called, Invoked)
SETTLE_NS = 60 * SECOND


def last(events: list[Stamped], kind: type, server: str = "") -> Stamped:
    return [each for each in events if type(each.event) is kind and server in ("", each.server)][-1]


@pytest.mark.parametrize("seed", [3, 8])
@pytest.mark.parametrize("family", sorted(SAFE))
def test_every_event_of_a_trial_goes_back_to_a_call_a_fault_a_command_or_a_start(
    family: str, seed: int
) -> None:
    trial = Trial(draw(seed, family))
    trial.run()
    causes = Causes(trial.cluster.events)  # type: ignore[attr-defined]
    events: list[Stamped] = trial.cluster.events  # type: ignore[attr-defined]
    roots = {place_of(each): causes.back(each)[0] for each in events}
    lost = [place for place, root in roots.items() if type(root.event) not in ROOTS]
    assert not lost, story(events, lost[0])
    led_by_calls = sum(causes.call(causes.root(each)) is not None for each in events)
    assert led_by_calls > len(events) // 4


def test_no_event_follows_from_one_that_came_later() -> None:
    trial = Trial(draw(5, "mams"))
    trial.run()
    events: list[Stamped] = trial.cluster.events  # type: ignore[attr-defined]
    causes = Causes(events)
    for each in events:
        walk = [place for place in causes.walk(place_of(each)) if causes.call(place) is None]
        assert walk == sorted(walk, key=causes.order)


def test_a_write_leads_over_every_standby_to_its_answer() -> None:
    lab = Lab(1)
    lab.ada.call(Mkdir("/a"))
    lab.run_ms(100)
    events = lab.cluster.events
    answer = last(events, Called, "ada")
    forward = [each for _, each in Causes(events).forward(answer)]
    synced = {each.server for each in forward if type(each.event) is Durable}
    assert synced == {lab.active, *lab.standbys} and answer in forward
    assert type(Causes(events).back(answer)[-2].event) is Committed


def test_each_of_many_calls_at_once_goes_back_to_a_call_and_forward_to_its_own_commit() -> None:
    lab = Lab(2)
    tasks = [lab.begin(lab.ada, Mkdir(f"/d{number}")) for number in range(40)]
    lab.cluster.run_until(lambda: all(task.done() for task in tasks), SETTLE_NS)
    causes = Causes(lab.cluster.events)
    calls = [each for each in lab.cluster.events if type(each.event) is Called]
    assert len(calls) >= 40
    for each in calls:
        assert causes.call(causes.root(each)) is not None
        event = each.event
        assert isinstance(event, Called)
        commits = [found.event for _, found in causes.forward(each) if type(found.event) is Committed]
        assert any((event.client, event.number) in commit.operations for commit in commits)  # type: ignore[union-attr]


def test_a_group_that_waited_for_the_one_before_it_goes_back_to_its_own_call() -> None:
    lab = Lab(3)
    lab.ada.call(Mkdir("/ada"))
    lab.eve.call(Mkdir("/eve"))
    first = lab.begin(lab.ada, Mkdir("/first"))
    held = lab.hold_journals(*lab.standbys)
    lab.cluster.run_until(lambda: bool(held.messages), SETTLE_NS)
    second = lab.begin(lab.eve, Mkdir("/second"))
    lab.run_ms(50)
    held.release()
    lab.cluster.run_until(lambda: first.done() and second.done(), SETTLE_NS)
    causes = Causes(lab.cluster.events)
    for client in ("ada", "eve"):
        assert causes.root(last(lab.cluster.events, Called, client))[0] == f"{client}.1"


def test_a_request_that_waited_for_a_takeover_goes_back_to_its_call() -> None:
    lab = Lab(1)
    lab.ada.call(Mkdir("/ada"))
    lab.eve.call(Mkdir("/eve"))
    lab.faults.crash(lab.active)
    held = lab.hold_journals(*lab.standbys)
    lab.cluster.run_until(lambda: bool(held.messages), SETTLE_NS)
    elected, _, _ = held.messages[0]
    lab.eve.client._groups[1].believed = elected
    task = lab.begin(lab.eve, Mkdir("/b"))
    lab.run_ms(50)
    held.release()
    lab.cluster.run_until(task.done, SETTLE_NS)
    causes = Causes(lab.cluster.events)
    assert causes.root(last(lab.cluster.events, Called, "eve"))[0] == "eve.1"
    serving = last(lab.cluster.events, Serving)
    assert type(causes.back(serving)[0].event) is FaultInjected


def test_what_was_held_back_goes_back_to_what_it_was_sent_for() -> None:
    lab = Lab(4)
    held = lab.hold_journals(lab.standbys[0])
    task = lab.begin(lab.ada, Mkdir("/a"))
    lab.cluster.run_until(task.done, SETTLE_NS)
    late = lab.standbys[0]
    lab.faults.slow_disk(lab.standbys[1], ms=1)
    held.release()
    lab.run_ms(100)
    assert Causes(lab.cluster.events).root(last(lab.cluster.events, Durable, late))[0] == "ada.1"


def test_a_takeover_goes_back_to_the_crash_and_not_to_what_the_crash_interrupted() -> None:
    lab = Lab(5)
    lab.ada.call(Mkdir("/a"))
    old = lab.active
    lab.faults.crash(old)
    lab.await_next_active()
    reported = story(lab.cluster.events, place_of(last(lab.cluster.events, Serving))).splitlines()
    assert reported[0].endswith(f"control       fault 1: crash {old}")
    assert reported[-1].endswith("serves g1 from sn 4 of epoch 2")
    assert any("the session of" in line for line in reported) and any(
        "election lock" in line for line in reported
    )


def test_a_server_that_is_started_again_follows_from_the_fault_verb() -> None:
    lab = Lab(6)
    name = lab.standbys[0]
    lab.faults.crash(name)
    lab.run_ms(100)
    lab.faults.restart(name)
    lab.run_ms(100)
    causes = Causes(lab.cluster.events)
    root = causes.back(last(lab.cluster.events, Started, name))[0]
    assert isinstance(root.event, FaultInjected | FaultEnded) and root.event.targets == [name]


def test_a_handover_goes_back_to_the_command_that_asked_for_it() -> None:
    lab = Lab(7)
    lab.ada.call(Mkdir("/a"))
    old, new = lab.active, lab.standbys[0]
    task = lab.cluster.begin_asking(old, {"do": "hand_over", "server": new})
    lab.cluster.run_until(task.done, SETTLE_NS)
    lab.await_next_active()
    root = Causes(lab.cluster.events).back(last(lab.cluster.events, Serving, new))[0]
    assert (root.server, root.event) == (old, Commanded("hand_over", new))


def test_a_schedules_own_deed_follows_from_nothing() -> None:
    lab = Lab(7)
    lab.faults.crash(lab.standbys[0])
    lab.faults.pause(lab.standbys[-1])
    faults = [each for each in lab.cluster.events if type(each.event) is FaultInjected]
    assert [each.cause for each in faults] == [0] * len(faults) and len(faults) == 2


def test_rounds_of_a_timer_follow_from_what_began_it_and_make_no_chain() -> None:
    lab = Lab(8)
    world = lab.cluster.servers["ada"].world
    assert world is not None

    async def rounds() -> None:
        world.trace.follows(("eve.1", 1))
        for _ in range(3):
            world.trace.emit(Warned("again"))
            await world.clock.sleep(SECOND)
            world.clock.call_later(SECOND, world.trace.emit, Warned("later"))

    lab.ada.begin(rounds())
    lab.run_ms(10_000)
    reported = [each for each in lab.cluster.events if type(each.event) is Warned]
    assert len(reported) == 6
    causes = {place_of(each) for each in reported} & {(each.server, each.cause) for each in reported}
    assert not causes


def test_what_a_server_goes_on_with_does_not_follow_from_a_fault_that_faulted_others_meanwhile() -> None:
    lab = Lab(10)
    lab.faults.crash(lab.active)
    for name in lab.standbys:
        others = [other for other in lab.standbys if other != name]
        trigger = Trigger("step", name, name="upgrade/1")
        lab.cluster.triggers.arm(trigger, lambda others=others: lab.faults.slow_disk(others[0], ms=1))  # type: ignore[misc]
    lab.await_next_active()
    causes = Causes(lab.cluster.events)
    back = causes.back(last(lab.cluster.events, Serving))
    faults = [each for each in lab.cluster.events if type(each.event) is FaultInjected]
    assert len(faults) == 2 and faults[0] in back and faults[1] not in back
    assert causes.root(faults[1]) == place_of(faults[0])


def test_what_a_cut_connection_held_back_does_not_follow_from_the_heal() -> None:
    loop, links = Loop(random.Random(1)), Links(random.Random(1))
    stream, seen = SimStream(loop, links, ("a", "coordination")), list[Cause]()
    links.of("a", "coordination").cut = True
    loop.cause = ("a", 7)
    stream.send(lambda: seen.append(loop.cause))
    links.of("a", "coordination").cut = False
    loop.cause = ("control", 1)
    stream.go_on()
    loop.run(SECOND)
    assert seen == [("a", 7)]


def test_the_same_seed_gives_the_same_causes() -> None:
    logs = []
    for _ in range(2):
        lab = Lab(9)
        lab.faults.crash(lab.active)
        lab.await_next_active()
        lab.cluster.run_for(200 * MILLISECOND)
        logs.append(lab.cluster.event_log_bytes())
    assert logs[0] == logs[1]
    assert any(type(each.event) is StepTaken and each.cause for each in lab.cluster.events)
