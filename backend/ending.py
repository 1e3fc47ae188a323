"""The end of the web server: open requests are cancelled, and no error is logged for them."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import uvicorn

GRACE_S = 0.5
"""Time in which open requests may still finish."""
LAST_WORDS_S = 0.2
"""Time in which a cancelled request sends its last line to the caller."""


class Server(uvicorn.Server):
    """A web server that leaves signals to its caller. Requests still open `GRACE_S` after its end began are cancelled, then their connections
    are closed."""

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
