"""Who is there, and what ends with a key."""

from __future__ import annotations

import asyncio

import pytest
from starlette.types import Message

from backend.classes.admission import until
from backend.classes.presence import StudentPresence
from backend.commands.classes import id_of, place, row
from backend.errors import NotThere


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_a_browser_that_sleeps_is_away_and_then_back() -> None:
    clock = Clock()
    made = StudentPresence(clock)
    made.sockets = 1
    clock.now_s += 24 * 3600
    assert made.away_s == 0, "an open page is somebody"
    made.sockets = 0
    assert made.away_s == 24 * 3600
    made.seen()
    assert made.away_s == 0


def test_a_lab_stands_still_until_its_state_changes() -> None:
    clock = Clock()
    made = StudentPresence(clock)
    made.look(("lab-1", "predict"))
    clock.now_s += 50
    made.look(("lab-1", "predict"))
    assert made.still_s == 50
    made.look(("lab-1", "run"))
    assert made.still_s == 0


def test_a_socket_ends_with_its_key() -> None:
    async def run() -> None:
        revoked, messages = asyncio.Event(), asyncio.Queue[Message]()
        receive = until(revoked, messages.get)
        await messages.put({"type": "websocket.receive", "text": "a"})
        assert (await receive())["text"] == "a"
        waiting = asyncio.create_task(receive())  # type: ignore[arg-type]
        await asyncio.sleep(0)
        revoked.set()
        assert (await waiting)["type"] == "websocket.disconnect"
        await messages.put({"type": "websocket.receive", "text": "b"})
        assert (await receive())["type"] == "websocket.disconnect"

    asyncio.run(run())


TILE = {
    "id": "1", "name": "Ada", "away_s": 130, "absent": True, "stuck": "", "passed": ["why-wait"], "lab": "why-wait", "phase": "run",
    "steps": [{"state": "passed"}, {"state": "open"}],
}  # fmt: skip


def test_a_student_is_a_row() -> None:
    assert row(TILE) == {
        "student": "Ada", "lab": "why-wait", "phase": "run", "steps": "1/2", "labs passed": 1, "seen": "2 min ago", "stuck": None,
    }  # fmt: skip
    assert id_of({"tiles": [TILE]}, "ADA") == "1"
    with pytest.raises(NotThere, match="no student called 'Bob'"):
        id_of({"tiles": [TILE]}, "Bob")
    assert place("https://lab.example.org/join") == "https://lab.example.org"
