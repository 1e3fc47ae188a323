"""A supervisor that sends events to a control plane that does not keep up."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nodes.supervisor import supervisor as supervisors
from nodes.supervisor.supervisor import Supervisor
from nodes.trace.events import Cut
from nodes.trace.reader import TraceReader
from nodes.trace.writer import TraceWriter


class SlowReader:
    """A connection whose peer reads nothing until the test lets it."""

    unsent = 0


def test_events_are_read_only_as_fast_as_they_are_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisors, "SEND_AHEAD_BYTES", 5_000)
    monkeypatch.setattr("nodes.trace.reader.READ_BYTES", 1_000)
    trace = TraceWriter(tmp_path, "mds1", lambda: 5, lambda: None)
    for number in range(2_000):
        trace.emit(Cut(number, "because"))
    trace.close()
    connection, sent = SlowReader(), []

    def report(to: SlowReader, events: Any) -> None:
        sent.extend(each.number for each in events.stamped)
        to.unsent += 25 * len(events.stamped)

    sender: Any = SimpleNamespace(calls=SimpleNamespace(report=report), _say=print)

    async def body() -> None:
        reading = asyncio.create_task(Supervisor._read_events(sender, connection, TraceReader(tmp_path)))  # type: ignore[arg-type]
        while connection.unsent <= 5_000:
            await asyncio.sleep(0)
        for _ in range(1_000):
            await asyncio.sleep(0)
        assert len(sent) < 300, "it reads on while nothing is sent"
        while len(sent) < 2_000:
            connection.unsent = 0
            await asyncio.sleep(0.001)
        reading.cancel()

    asyncio.run(asyncio.wait_for(body(), 30))
    assert sent == list(range(1, 2_001))
