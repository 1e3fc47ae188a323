"""Names that a supervisor resolves for its rules, while the name server is out of reach."""

from __future__ import annotations

import asyncio
import threading

import pytest

from nodes.supervisor import kernel as kernels
from nodes.supervisor.kernel import Kernel
from nodes.supervisor.reaper import Reaper


def test_a_name_server_out_of_reach_stops_nothing_and_loses_no_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reached = threading.Event()
    cut = threading.Event()

    def resolve(name: str) -> list[str]:
        if cut.is_set():
            reached.wait()
            return []
        return ["10.0.0.7"]

    async def play() -> tuple[str, int]:
        kernel = Kernel("mds1", 7700, Reaper())
        assert await kernel.address() == "10.0.0.7"
        monkeypatch.setattr(kernels, "RESOLVE_S", 0.05)
        cut.set()
        asking, turns = asyncio.create_task(kernel.address()), 0
        while not asking.done():
            turns += 1
            await asyncio.sleep(0)
        reached.set()
        return await asking, turns

    monkeypatch.setattr(kernels, "resolve", resolve)
    address, turns = asyncio.run(play())
    assert address == "10.0.0.7" and turns > 10
