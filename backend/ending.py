"""The end of the web server: what is still under way is cut off, which is nobody's error."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import uvicorn

GRACE_S = 0.5
"""What is nearly done may be done."""
LAST_WORDS_S = 0.2
"""For the line that tells a caller why there is no answer."""


class Server(uvicorn.Server):
    """Signals are handled by whoever runs it. Whatever is under way `GRACE_S` after its end began is cancelled, and then its connection closed."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        loop = asyncio.get_running_loop()
        timers = (
            loop.call_later(GRACE_S, self._cancel),
            loop.call_later(GRACE_S + LAST_WORDS_S, self._hang_up),
        )
        try:
            await super().shutdown(sockets)
        finally:
            for timer in timers:
                timer.cancel()

    def _cancel(self) -> None:
        for task in tuple(self.server_state.tasks):
            task.cancel()

    def _hang_up(self) -> None:
        for connection in tuple(self.server_state.connections):
            connection.transport.abort()
