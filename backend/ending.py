"""The end of the web server: what is still under way is cut off, which is nobody's error."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import uvicorn
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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


class Cancellable:
    """Outermost: a cancelled request is answered in one line with 503, or, where an answer has begun, ends with its connection."""

    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = begun or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except asyncio.CancelledError:
            if scope["type"] != "http":
                return
            if not begun:
                line = {"error": "the control plane ends; nobody knows what became of this call"}
                await JSONResponse(line, status_code=503)(scope, receive, send)
                return
            while (await receive())["type"] != "http.disconnect":
                pass
