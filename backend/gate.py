"""Who may speak to the control plane, and how much: the guard in front of every request and socket."""

from __future__ import annotations

import re

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.errors import Forbidden, LabError, TooLarge

BODY_OCTETS = 1024 * 1024
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
        await self._app(scope, bounded(receive) if scope["type"] == "http" else receive, send)


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


def check_length(scope: Scope) -> None:
    length = header(scope, b"content-length")
    if length is not None and (not length.isdigit() or int(length) > BODY_OCTETS):
        raise TooLarge(f"a body may have {BODY_OCTETS} octets at most")


def bounded(receive: Receive) -> Receive:
    """Counts a body without a length; one that is too long looks like a client that went away."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        return message if seen <= BODY_OCTETS else {"type": "http.disconnect"}

    return counted


async def refuse(scope: Scope, receive: Receive, send: Send, error: LabError) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 4403, "reason": error.message[:120]})
        return
    await JSONResponse({"error": error.message}, status_code=error.status)(scope, receive, send)
