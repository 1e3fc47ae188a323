"""The web server: it closes connections that send no request, and cancels open requests at its end without logging an error for them."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

GRACE_S = 0.5
"""Time in which open requests may still finish."""
HEAD_S = 10.0
"""Time in which a new connection sends the head of its first request; uvicorn limits only the time between requests."""
LAST_WORDS_S = 0.2
"""Time in which a cancelled request sends its last line to the caller."""


class WebServer(uvicorn.Server):
    """A web server that leaves signals to its caller. Requests still open `GRACE_S` after its end began are cancelled, then their connections
    are closed."""

    def __init__(self, config: uvicorn.Config):
        super().__init__(config)
        self._waiting_since: dict[Any, float] = {}
        """Connections without a request in work, and the loop's time at which that was seen first."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def on_tick(self, counter: int) -> bool:
        """Called by uvicorn ten times a second."""
        self._close_silent(asyncio.get_running_loop().time())
        return await super().on_tick(counter)

    def _close_silent(self, now: float) -> None:
        """Closes connections that have shown no whole head of a request for too long, whether silent or slow."""
        waiting = [each for each in self.server_state.connections if is_waiting(each)]
        self._waiting_since = {each: self._waiting_since.get(each, now) for each in waiting}
        for connection, since in self._waiting_since.items():
            if now - since > HEAD_S:
                connection.transport.abort()

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


def is_waiting(connection: object) -> bool:
    """Whether an HTTP connection has no request in work; a WebSocket is another kind of connection."""
    return isinstance(connection, H11Protocol) and (
        connection.cycle is None or connection.cycle.response_complete
    )
