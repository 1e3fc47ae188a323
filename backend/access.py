"""The lock of the API: a browser shows its key as a cookie, a program as a bearer token. Probes need none."""

from __future__ import annotations

import hmac
from urllib.parse import parse_qsl, quote, urlencode

from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from backend.errors import NoKey
from backend.gate import header, local_port, refuse
from backend.probes import OPEN

PARAMETER = "key"
BEARER = "Bearer "
WITHOUT_KEY = """<!doctype html><meta charset="utf-8"><title>Cloverlab: key needed</title>
<h1>This page needs its key</h1>
<p>Open the link that <code>./cloverlab up</code> printed: <code>http://127.0.0.1:PORT/?key=…</code>
<p>The key is in the file <code>key</code> of the data directory. In containers
<code>docker compose exec control python3 -m backend.containers link</code> prints the link.
<p><a href="/">Try again</a>
"""


class Access:
    """Inside the gate, which has judged Host and Origin."""

    def __init__(self, app: ASGIApp, key: str):
        self._app = app
        self._key = key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or scope["path"] in OPEN:
            await self._app(scope, receive, send)
            return
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in query if name == PARAMETER]
        if is_page(scope) and given:
            if self._fits(given[0]):
                await self._let_in(scope, query)(scope, receive, send)
            else:
                await without_key(scope, receive, send)
        elif self._fits(shown(scope)):
            await self._app(scope, receive, send)
        elif is_page(scope):
            await without_key(scope, receive, send)
        else:
            await refuse(scope, receive, send, NoKey())

    def _fits(self, key: str) -> bool:
        return hmac.compare_digest(key.encode(), self._key.encode())

    def _let_in(self, scope: Scope, query: list[tuple[str, str]]) -> RedirectResponse:
        """To the same address without the key, which then is in no history and no log."""
        rest = urlencode([(name, value) for name, value in query if name != PARAMETER])
        path = "/" + quote(scope["path"].lstrip("/"))
        response = RedirectResponse(f"{path}?{rest}" if rest else path, status_code=303)
        response.set_cookie(cookie_name(scope), self._key, httponly=True, samesite="strict")
        response.headers["Cache-Control"] = "no-store"
        return response


def is_page(scope: Scope) -> bool:
    return scope["type"] == "http" and scope["method"] == "GET" and not scope["path"].startswith("/api/")


def cookie_name(scope: Scope) -> str:
    """Browsers keep one jar for all ports of a host."""
    return f"cloverlab-key-{local_port(header(scope, b'host') or '')}"


def shown(scope: Scope) -> str:
    """The key that a caller shows; empty without one."""
    authorization = header(scope, b"authorization") or ""
    if authorization.startswith(BEARER):
        return authorization.removeprefix(BEARER)
    return cookie_parser(header(scope, b"cookie") or "").get(cookie_name(scope), "")


async def without_key(scope: Scope, receive: Receive, send: Send) -> None:
    headers = {"WWW-Authenticate": "Bearer", "Cache-Control": "no-store"}
    await HTMLResponse(WITHOUT_KEY, status_code=401, headers=headers)(scope, receive, send)
