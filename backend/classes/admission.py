"""What stands between a request and the application: the tables of permissions, whose thing it is about, and how often a student asks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.classes.limits import TokenLimit, TokenRule
from backend.classes.permissions import (
    STUDENTS,
    Permitted,
    cluster_named,
    names_another,
    only_looks,
    permitted,
)
from backend.classes.service import Classes
from backend.dependencies import CLUSTER
from backend.errors import Forbidden, LabError, TooMany
from backend.gate import refuse
from backend.person import PERSON, Person

REQUESTS = TokenRule(most=150, every_s=1 / 30)
"""A page and its files are about 40 requests."""
SOCKETS_MAX = 4
"""Of one student: so many pages that show a cluster live."""


class StudentGate:
    """One for the application."""

    def __init__(self, app: ASGIApp, classes: Classes):
        self._app = app
        self._classes = classes
        self._requests = TokenLimit(REQUESTS)

    @property
    def takes_students(self) -> bool:
        return self._classes.roster.takes_students

    def person_of(self, key: str) -> Person | None:
        return self._classes.roster.person_of(key)

    async def admit(self, person: Person, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a student's request on, or refuses it in one line."""
        try:
            self._check(person, scope)
        except LabError as error:
            await refuse(scope, receive, send, error)
            return
        presence = self._classes.presence(person.id)
        presence.seen()
        scope = {**scope, PERSON: person}
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        presence.sockets += 1
        try:
            await self._app(scope, until(presence.revoked, receive), send)
        finally:
            presence.sockets -= 1
            presence.seen()

    async def admit_instructor(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the instructor's request on, or refuses in one line what would disturb a student."""
        try:
            self._check_looking(scope)
        except LabError as error:
            await refuse(scope, receive, send, error)
            return
        await self._app(scope, receive, send)

    def _check_looking(self, scope: Scope) -> None:
        """Raises Forbidden."""
        if only_looks(scope):
            return
        student = self._classes.student_with(scope.get(CLUSTER) or cluster_named(scope["path"]))
        if student is not None:
            raise Forbidden(
                f"this is {student.name}'s cluster, which an instructor looks at and does not change: fork it to try something"
            )

    def _check(self, person: Person, scope: Scope) -> None:
        """Raises TooMany, Forbidden."""
        if self._requests.wait_s(person.id):
            raise TooMany("too many requests: wait a moment")
        self._requests.take(person.id)
        found = permitted(scope, STUDENTS)
        if found is None or not self._is_own(person, found, scope) or names_another(scope, person.name):
            raise Forbidden("a student of a class may not do this, or it is not yours")
        if scope["type"] == "websocket" and self._classes.presence(person.id).sockets >= SOCKETS_MAX:
            raise TooMany(f"{SOCKETS_MAX} of your pages are open: close one")

    def _is_own(self, person: Person, found: Permitted, scope: Scope) -> bool:
        match found.whose:
            case "cluster":
                return scope[CLUSTER] is self._classes.cluster_of(person.id)
            case "attempt":
                return found.attempt in self._classes.attempts.of(person.id)
            case "nobody's":
                return True


def until(revoked: asyncio.Event, receive: Receive) -> Receive:
    """Messages of a socket until its key ends; then the socket appears to be closed by its page."""

    async def next_message() -> Message:
        ended: dict[str, object] = {"type": "websocket.disconnect", "code": 4401}
        return ended if revoked.is_set() else await first(receive, revoked.wait, ended)

    return next_message


async def first(receive: Receive, wait: Callable[[], Awaitable[object]], otherwise: Message) -> Message:
    """The next message, or the other one when the wait is over before."""
    received = asyncio.ensure_future(receive())
    over = asyncio.ensure_future(wait())
    try:
        await asyncio.wait((received, over), return_when=asyncio.FIRST_COMPLETED)
        return received.result() if received.done() else otherwise
    finally:
        received.cancel()
        over.cancel()
