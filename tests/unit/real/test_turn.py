"""The end of a turn, and the tasks that wait for it."""

from __future__ import annotations

import asyncio
from typing import Any

from nodes.real.turn import Turn


def test_who_waits_comes_after_the_steps() -> None:
    async def play() -> list[str]:
        turn, seen = Turn(asyncio.get_running_loop()), []
        turn.at_end(lambda: seen.append("written"))
        await turn.over()
        return [*seen, "over"]

    assert asyncio.run(play()) == ["written", "over"]


def test_who_is_ended_while_it_waits_ends_nobody_else() -> None:
    """A block is freed in the turn in which its replica was opened, while the disk still waits for the turn."""

    async def play() -> list[dict[str, Any]]:
        loop, wrong = asyncio.get_running_loop(), []
        loop.set_exception_handler(lambda _, context: wrong.append(context))
        turn = Turn(loop)
        waiting = loop.create_task(turn.over())
        loop.call_soon(waiting.cancel)
        await turn.over()
        await asyncio.wait([waiting])
        assert waiting.cancelled()
        return wrong

    assert asyncio.run(play()) == []
