"""Responses that cannot be finished, because the control plane ends or the cluster does not deliver the rest: one line, no traceback."""

from __future__ import annotations

import asyncio
import logging

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.errors import LabError
from nodes.errors import FsError

log = logging.getLogger("uvicorn.error")


class Unfinished:
    """Outermost middleware. A cancelled request gets 503; a response that has begun ends with its connection. The same happens when the rest of
    a response is unavailable."""

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
            if scope["type"] == "http":
                await (gone(receive) if begun else refuse(scope, receive, send))
        except RuntimeError as error:
            if not begun or not isinstance(error.__cause__, FsError | LabError):
                raise
            log.error("%s broke off: %s", scope["path"], error.__cause__)


async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
    line = {"error": "the control plane is stopping; the outcome of this call is unknown"}
    await JSONResponse(line, status_code=503)(scope, receive, send)


async def gone(receive: Receive) -> None:
    """Waits until the connection is closed: a response that returned earlier would be reported as incomplete."""
    while (await receive())["type"] != "http.disconnect":
        pass
