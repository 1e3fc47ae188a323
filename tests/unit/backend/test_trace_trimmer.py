"""Traces: files whose events the store has are removed, others are not."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from backend import trace_trimmer
from backend.errors import Unavailable
from backend.store.store import EventStore
from nodes.trace import writer as writing
from nodes.trace.events import Cut
from nodes.trace.reader import TraceReader
from nodes.trace.writer import TraceWriter


class Servers:
    """A server with a trace in several files, one that does not answer, and one that has stopped."""

    def __init__(self, directory: Path):
        self.trace = TraceWriter(directory, "mds1", lambda: 5, lambda: None)
        for number in range(100):
            self.trace.emit(Cut(number, "because"))
            self.trace.flush()
        self.asked: list[str] = []

    def states(self) -> dict[str, str]:
        return {"mds1": "running", "mds2": "running", "mds3": "stopped"}

    async def ask(self, name: str, question: dict[str, Any], timeout_s: float = 2.0) -> dict[str, Any]:
        self.asked.append(name)
        if name != "mds1":
            raise Unavailable("does not answer")
        return {"removed": self.trace.trim(question["below"])}


def test_a_trace_is_trimmed_up_to_what_the_store_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "SEGMENT_BYTES", 200)

    async def body() -> None:
        store = await EventStore.open(tmp_path / "events.db")
        await store.begin_run("mams", 1)
        servers = Servers(tmp_path / "trace")
        before = len(list((tmp_path / "trace").iterdir()))
        events, reader = [], TraceReader(tmp_path / "trace")
        while found := reader.read():
            events += found
        store.append(events[:60])
        await trace_trimmer.trim(servers, store.positions)  # type: ignore[arg-type]
        assert servers.asked == [], "nothing is committed yet"
        await store.flush()
        assert store.positions == {"mds1": 60}
        await trace_trimmer.trim(servers, {"mds2": 7, "mds3": 7, **store.positions})  # type: ignore[arg-type]
        assert servers.asked == ["mds2", "mds1"]
        left = TraceReader(tmp_path / "trace").read()
        assert 50 < left[0].number <= 61 and len(list((tmp_path / "trace").iterdir())) < before
        assert [each.number for each in TraceReader(tmp_path / "trace", 60).read()][:1] == [61]
        await store.close()

    asyncio.run(body())
