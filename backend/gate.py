"""Who may speak to the control plane, and how much: the guard in front of every request and socket."""

from __future__ import annotations

import re

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.errors import Forbidden, LabError, TooLarge

BODY_OCTETS = 1024 * 1024
CONTENT_OCTETS = 1 << 36
"""Of a file that is sent: it is streamed, never held."""
CONTENT = "/api/fs/content"
LOCAL = re.compile(r"^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$")
LOCAL_ORIGIN = re.compile(r"^https?://(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$")


class Gate:
    """A page of another site cannot reach the cluster through a person's browser: Host and Origin must be
    this machine."""

    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        try:
            check_origin(scope)
            check_length(scope)
        except LabError as error:
            await refuse(scope, receive, send, error)
            return
        limit = most(scope)
        await self._app(scope, bounded(receive, limit) if scope["type"] == "http" else receive, send)


def header(scope: Scope, name: bytes) -> str | None:
    for key, value in scope["headers"]:
        if key == name:
            return str(value.decode("latin-1"))
    return None


def check_origin(scope: Scope) -> None:
    host, origin = header(scope, b"host"), header(scope, b"origin")
    if host is None or not LOCAL.match(host):
        raise Forbidden(f"host {(host or '')[:80]!r} is not this machine: use 127.0.0.1 or localhost")
    if origin is not None and not same_place(origin, host):
        raise Forbidden(f"a page of {origin[:80]!r} may not speak to this control plane")


def same_place(origin: str, host: str) -> bool:
    """Names of this machine differ (localhost, 127.0.0.1); the port must be the same."""
    port = host.rpartition(":")[2] if ":" in host else "80"
    return LOCAL_ORIGIN.match(origin) is not None and origin.rpartition(":")[2] == port


def most(scope: Scope) -> int:
    """Octets that the body of a request may have."""
    return CONTENT_OCTETS if scope["path"] == CONTENT else BODY_OCTETS


def check_length(scope: Scope) -> None:
    length, limit = header(scope, b"content-length"), most(scope)
    if length is not None and (not length.isdigit() or int(length) > limit):
        raise TooLarge(f"a body may have {limit} octets at most")


def bounded(receive: Receive, limit: int) -> Receive:
    """Counts a body without a length; one that is too long looks like a client that went away."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        return message if seen <= limit else {"type": "http.disconnect"}

    return counted


async def refuse(scope: Scope, receive: Receive, send: Send, error: LabError) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 4403, "reason": error.message[:120]})
        return
    await JSONResponse({"error": error.message}, status_code=error.status)(scope, receive, send)
