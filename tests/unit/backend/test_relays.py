"""The relay process answers for as long as it lives."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

import uvloop

from backend.fabrics import relays
from backend.fabrics.sockets import ask


def test_its_control_socket_is_there_after_garbage_was_collected(tmp_path: Path) -> None:
    """A listening socket that only the event loop references is closed by the garbage collector."""

    async def play() -> None:
        serving = asyncio.get_running_loop().create_task(relays.main(tmp_path / "s"))
        while not (tmp_path / "s").exists():
            await asyncio.sleep(0)
        for _ in range(3):
            gc.collect()
            await asyncio.sleep(0.01)
        assert await ask(tmp_path / "s", {"do": "status"}) == {"ok": True, "relays": []}
        serving.cancel()

    uvloop.run(play())
