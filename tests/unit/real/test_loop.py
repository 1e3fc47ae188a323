"""A process's event loop passes the present cause to its callbacks."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from nodes.real.loop import CausalLoop
from nodes.trace.events import Durable, Warned
from nodes.trace.present import UNKNOWN, Cause, Present, causal
from nodes.trace.reader import TraceReader
from nodes.trace.writer import TraceWriter
from nodes.wake import Inbox, Wake

CALL: Cause = ("ada.1", 7)
OTHER: Cause = ("eve.1", 1)


def run(procedure: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=CausalLoop) as runner:
        runner.run(procedure)


def loop() -> CausalLoop:
    here = asyncio.get_running_loop()
    assert isinstance(here, CausalLoop)
    return here


def test_callbacks_timers_and_tasks_go_on_with_the_cause_of_who_asked_for_them() -> None:
    async def body() -> None:
        seen: dict[str, Cause] = {}

        def note(what: str) -> None:
            seen[what] = loop().cause

        async def procedure() -> None:
            note("task")
            await asyncio.sleep(0)
            note("task later")
            await asyncio.sleep(0.001)
            note("task after a sleep")

        loop().cause = loop().began = CALL
        loop().call_soon(note, "soon")
        loop().call_later(0.001, note, "timer")
        task = loop().create_task(procedure())
        loop().cause = loop().began = OTHER
        await task
        await asyncio.sleep(0.01)
        assert seen == dict.fromkeys(("soon", "timer", "task", "task later", "task after a sleep"), CALL)

    run(body())


def test_who_waits_goes_on_with_the_cause_of_whoever_ended_the_wait() -> None:
    async def body() -> None:
        event, seen = asyncio.Event(), list[Cause]()

        async def waits() -> None:
            await event.wait()
            seen.append(loop().cause)

        task = loop().create_task(waits())
        await asyncio.sleep(0)
        loop().cause = CALL
        event.set()
        loop().cause = UNKNOWN
        await task
        assert seen == [CALL]

    run(body())


def test_nothing_is_left_of_a_cause_when_its_callback_has_ended_even_in_an_error() -> None:
    async def body() -> None:
        seen: list[Cause] = []
        loop().set_exception_handler(lambda _, context: seen.append(loop().cause))
        loop().cause = CALL
        loop().call_soon(lambda: 1 // 0)
        loop().cause = UNKNOWN
        loop().call_soon(lambda: seen.append(loop().cause))
        await asyncio.sleep(0.001)
        assert seen == [UNKNOWN, UNKNOWN]

    run(body())


def test_an_event_that_nothing_led_to_leaves_no_cause_behind(tmp_path: Path) -> None:
    async def body() -> None:
        trace, seen = TraceWriter(tmp_path, "mds1", lambda: 1, lambda: None, causal(loop())), list[Cause]()
        for _ in range(2):
            loop().call_soon(trace.emit, Warned("what"))
            loop().call_soon(lambda: seen.append(loop().cause))
            loop().call_later(0, trace.emit, Warned("what"))
            loop().call_later(0, lambda: seen.append(loop().cause))
        await asyncio.sleep(0.01)
        trace.close()
        assert seen == [UNKNOWN] * 4
        assert [each.cause for each in TraceReader(tmp_path).read()] == [0] * 4

    run(body())


def test_a_timer_follows_from_what_began_the_turn_and_not_from_what_the_turn_reported(tmp_path: Path) -> None:
    """Otherwise the rounds of a loop would be one endless chain."""

    async def body() -> None:
        trace = TraceWriter(tmp_path, "mds1", lambda: 1, lambda: None, causal(loop()))

        async def rounds() -> None:
            for _ in range(3):
                trace.emit(Warned("again"))
                await asyncio.sleep(0.001)

        loop().cause = loop().began = CALL
        task = loop().create_task(rounds())
        await task
        trace.close()
        assert [(each.cause_server, each.cause) for each in TraceReader(tmp_path).read()] == [CALL] * 3

    run(body())


def test_the_events_of_one_turn_follow_from_each_other(tmp_path: Path) -> None:
    present = Present()
    trace = TraceWriter(tmp_path, "mds1", lambda: 1, lambda: None, present)
    present.cause = CALL
    trace.emit(Warned("first"))
    trace.emit(Durable(1, 1, 1, 0, 1, 1))
    assert trace.at() == ("mds1", 2)
    trace.follows(OTHER)
    trace.emit(Warned("third"))
    trace.close()
    reported = [(each.cause_server, each.cause) for each in TraceReader(tmp_path).read()]
    assert reported == [CALL, ("", 1), OTHER]


def test_on_another_loop_causes_are_remembered_within_the_turn_alone() -> None:
    async def body() -> None:
        assert isinstance(causal(asyncio.get_running_loop()), Present)

    asyncio.run(body())


def test_a_procedure_that_was_woken_while_it_worked_goes_on_with_the_cause_of_who_woke_it_first() -> None:
    async def body() -> None:
        wake, seen, works = Wake(), list[Cause](), asyncio.Event()

        async def procedure() -> None:
            for _ in range(2):
                await wake.wait()
                seen.append(loop().cause)
                works.set()
                await asyncio.sleep(0.001)

        task = loop().create_task(procedure())
        for cause in (CALL, OTHER, CALL):
            loop().cause = cause
            wake.set()
            loop().cause = UNKNOWN
            await works.wait()
        await task
        assert seen == [CALL, OTHER]

    run(body())


def test_each_message_that_waited_is_taken_with_what_led_to_it() -> None:
    async def body() -> None:
        inbox: Inbox[str] = Inbox()
        for cause in (CALL, OTHER):
            loop().cause = cause
            inbox.put("mds1", f"from {cause[0]}")
        assert len(inbox) == 2
        loop().cause = UNKNOWN
        taken = []
        for peer, message in inbox.take():
            inbox.put(peer, "comes meanwhile")
            taken.append((peer, message, loop().cause))
        assert taken == [("mds1", "from ada.1", CALL), ("mds1", "from eve.1", OTHER)] and len(inbox) == 2

    run(body())


def test_a_cause_that_a_unknown_peer_made_too_large_is_written_as_unknown(tmp_path: Path) -> None:
    present = Present()
    trace = TraceWriter(tmp_path, "mds1", lambda: 1, lambda: None, present)
    for cause in (("a" * 1_000_000, 1), ("ada.1", 1 << 63), ("ada.1", -5)):
        present.cause = cause
        trace.emit(Warned("what"))
    trace.close()
    assert [(each.cause_server, each.cause) for each in TraceReader(tmp_path).read()] == [UNKNOWN] * 3
