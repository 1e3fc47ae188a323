"""The lock of the API: a browser shows a key as a cookie, a program as a bearer token. Probes need none.

The key of the data directory opens everything but changes of a student's cluster. A student's key opens what the table for students says, a class
that takes students its entrance.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from backend.classes.admission import StudentGate
from backend.classes.permissions import ENTRANCE, permitted
from backend.classes.service import Classes
from backend.errors import NoKey
from backend.gate import header, refuse
from backend.person import Person
from backend.probes import OPEN
from backend.reach import LOCAL_REACH, NetworkReach

PARAMETER = "key"
BEARER = "Bearer "
STUDENT_COOKIE_S = 30 * 24 * 3600
"""How long a student's browser keeps the key; the instructor's forgets it when it ends."""
WITHOUT_KEY = """<!doctype html><meta charset="utf-8"><title>Cloverlab: key needed</title>
<h1>This page needs its key</h1>
<p>Open the link that <code>./cloverlab up</code> printed: <code>http://127.0.0.1:PORT/?key=…</code>
<p>The key is in the file <code>key</code> of the data directory. In containers
<code>docker compose exec control python3 -m backend.containers link</code> prints the link.
<p><a href="/">Try again</a>
"""
TO_JOIN = '<p>In a class? <a href="/join">Join it with its code</a>\n'


class Access:
    """Inside the gate, which has judged Host and Origin."""

    def __init__(
        self, app: ASGIApp, key: str, classes: Classes | None = None, reach: NetworkReach = LOCAL_REACH
    ):
        self._app = app
        self._key = key
        self._admission = StudentGate(app, classes) if classes is not None else None
        self._reach = reach

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or scope["path"] in OPEN:
            await self._app(scope, receive, send)
            return
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in query if name == PARAMETER]
        if is_page(scope) and given:
            await self._open_link(given[0], query, scope, receive, send)
            return
        key = self._shown(scope)
        if self._is_instructor(key, scope):
            await self._admit_instructor(scope, receive, send)
        elif (person := self._person(key)) is not None and self._admission is not None:
            await self._admission.admit(person, scope, receive, send)
        elif self._takes_students and permitted(scope, ENTRANCE) is not None:
            await self._app(scope, receive, send)
        elif is_page(scope):
            await self._without_key(scope, receive, send)
        else:
            await refuse(scope, receive, send, NoKey())

    async def _admit_instructor(self, scope: Scope, receive: Receive, send: Send) -> None:
        admit = self._app if self._admission is None else self._admission.admit_instructor
        await admit(scope, receive, send)

    @property
    def _takes_students(self) -> bool:
        return self._admission is not None and self._admission.takes_students

    def _person(self, key: str) -> Person | None:
        return self._admission.person_of(key) if self._admission is not None else None

    def _is_instructor(self, key: str, scope: Scope) -> bool:
        """From another machine the key would travel in clear, and somebody who has read it there cannot use it."""
        return self._reach.is_near(scope) and hmac.compare_digest(key.encode(), self._key.encode())

    async def _open_link(
        self, key: str, query: list[tuple[str, str]], scope: Scope, receive: Receive, send: Send
    ) -> None:
        if self._is_instructor(key, scope):
            await self._let_in(key, {}, scope, query)(scope, receive, send)
        elif self._person(key) is not None:
            known = self._shown(scope)
            kept = known if self._is_instructor(known, scope) else key
            await self._let_in(kept, {"max_age": STUDENT_COOKIE_S}, scope, query)(scope, receive, send)
        else:
            await self._without_key(scope, receive, send)

    def _let_in(
        self, key: str, lasting: Mapping[str, Any], scope: Scope, query: list[tuple[str, str]]
    ) -> RedirectResponse:
        """To the same address without the key, which then is in no history and no log."""
        rest = urlencode([(name, value) for name, value in query if name != PARAMETER])
        path = "/" + quote(scope["path"].lstrip("/"))
        response = RedirectResponse(f"{path}?{rest}" if rest else path, status_code=303)
        public = self._reach.public
        secure = public is not None and public.scheme == "https" and self._reach.is_public(host_of(scope))
        response.set_cookie(
            self._cookie_name(scope), key, httponly=True, samesite="strict", secure=secure, **lasting
        )
        response.headers["Cache-Control"] = "no-store"
        return response

    def _cookie_name(self, scope: Scope) -> str:
        """Browsers keep one jar for all ports of a host."""
        return f"cloverlab-key-{self._reach.port_of(host_of(scope))}"

    def _shown(self, scope: Scope) -> str:
        """The key that a caller shows; empty without one."""
        authorization = header(scope, b"authorization") or ""
        if authorization.startswith(BEARER):
            return authorization.removeprefix(BEARER)
        return cookie_parser(header(scope, b"cookie") or "").get(self._cookie_name(scope), "")

    async def _without_key(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {"WWW-Authenticate": "Bearer", "Cache-Control": "no-store"}
        page = WITHOUT_KEY + (TO_JOIN if self._takes_students else "")
        await HTMLResponse(page, status_code=401, headers=headers)(scope, receive, send)


def is_page(scope: Scope) -> bool:
    return scope["type"] == "http" and scope["method"] == "GET" and not scope["path"].startswith("/api/")


def host_of(scope: Scope) -> str:
    return header(scope, b"host") or ""
