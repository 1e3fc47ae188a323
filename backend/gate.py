"""The guard in front of every request and socket of the control plane: allowed callers, and limits of their requests."""

from __future__ import annotations

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.errors import Forbidden, LabError, TooLarge
from backend.reach import LOCAL_REACH, NetworkReach

BODY_BYTES = 1024 * 1024
CONTENT_BYTES = 1 << 36
"""Largest file or backup that a request may send, in bytes; it is streamed and never held."""
RUN_BYTES = 1 << 29
"""Largest file of a run that a request may send, in bytes; it is streamed, too."""
STREAMED = {
    "/api/fs/content": CONTENT_BYTES,
    "/api/checkpoints/import": CONTENT_BYTES,
    "/api/runs/import": RUN_BYTES,
}
OWN_SITE = ("same-origin", "none")
"""Values of Sec-Fetch-Site for requests of this page, and for those of a person: a typed address, a bookmark."""


class Gate:
    """Keeps pages of other sites from reaching the cluster through a person's browser: Host and Origin must name this machine, or the
    address that it has in a network or behind a proxy."""

    def __init__(self, app: ASGIApp, reach: NetworkReach = LOCAL_REACH):
        self._app = app
        self._reach = reach

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        try:
            check_origin(scope, self._reach)
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


def check_origin(scope: Scope, reach: NetworkReach = LOCAL_REACH) -> None:
    """Raises Forbidden."""
    host, origin, site = header(scope, b"host"), header(scope, b"origin"), header(scope, b"sec-fetch-site")
    if reach.port_of(host or "") is None:
        raise Forbidden(f"host {(host or '')[:80]!r} is not this machine: use 127.0.0.1 or localhost")
    if origin is not None and not reach.same_place(origin, host or ""):
        raise Forbidden(f"a page of {origin[:80]!r} may not use this control plane")
    if site is not None and site not in OWN_SITE and not opens_a_page(scope):
        raise Forbidden("a page of another site may not use this control plane")


def opens_a_page(scope: Scope) -> bool:
    """Whether a person follows a link of another site to the page; its requests and sockets are not navigation."""
    return (
        scope["type"] == "http"
        and scope["method"] == "GET"
        and not scope["path"].startswith("/api/")
        and header(scope, b"sec-fetch-mode") == "navigate"
    )


def most(scope: Scope) -> int:
    """Most bytes that the body of a request may have."""
    return STREAMED.get(scope["path"], BODY_BYTES)


def check_length(scope: Scope) -> None:
    length, limit = header(scope, b"content-length"), most(scope)
    if length is not None and (not length.isdigit() or int(length) > limit):
        raise TooLarge(f"a body may have {limit} bytes at most")


def bounded(receive: Receive, limit: int) -> Receive:
    """Counts a body without a length; the caller of a body that is too long appears to have disconnected."""
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
        await send({"type": "websocket.close", "code": 4000 + error.status, "reason": error.message[:120]})
        return
    await JSONResponse({"error": error.message}, status_code=error.status)(scope, receive, send)
