"""A client's sessions: opened at each group before the first change there, renewed while the client lives, closed when it ends (rule 10)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from nodes.client.routing import Routes
from nodes.metadata.operations import CloseSession, OpenSession
from nodes.wire.messages import Answer
from nodes.world import Clock

TIMES = 3
"""A session is opened with a stamp that the group gave just now; one that came too late is asked for again so often."""
SessionCall = OpenSession | CloseSession


class Keeping:
    """The sessions of one client by group. `run` carries out one call to its end; None when its outcome is unknown."""

    def __init__(
        self,
        clock: Clock,
        ttl_ns: int,
        groups: dict[int, Routes],
        run: Callable[[SessionCall, int], Awaitable[Answer | None]],
    ):
        self._clock = clock
        self._pause_ns = ttl_ns // 3
        self._groups = groups
        self._run = run
        self._opening: dict[int, asyncio.Future[None]] = {}
        self._renewing: dict[int, asyncio.Future[None]] = {}
        """By group: one that nobody answers is asked by one renewal, not by another each time that one is due."""
        self._timer: Any = None
        self._over = False

    async def open_at(self, group: int) -> None:
        """The session's record, once per group."""
        opening = self._opening.get(group)
        if opening is None:
            opening = self._opening[group] = asyncio.ensure_future(self._open(group))
        if not opening.done():
            await opening

    def open_anew(self, group: int) -> None:
        """The session is not known there. This call is refused, the next one opens it again."""
        self._opening.pop(group, None)
        self._groups[group].opened = False

    async def _open(self, group: int) -> None:
        routes = self._groups[group]
        for _ in range(TIMES):
            answer = await self._run(OpenSession(routes.sent + 1), group)
            if answer is None or not answer.error:
                break
        routes.opened = answer is not None and not answer.error
        if routes.opened:
            self._used(routes)
            self._await_renewal()

    # --- renewing --------------------------------------------------------------------------------------------------

    def _used(self, routes: Routes) -> None:
        routes.used_ns = self._clock.monotonic_ns()

    def _await_renewal(self) -> None:
        if self._timer is None and not self._over:
            self._timer = self._clock.call_later(self._pause_ns, self._renew)

    def _renew(self) -> None:
        """Where nothing was changed for a third of the time to live, the session is renewed by a record."""
        self._timer = None
        least_ns = self._clock.monotonic_ns() - self._pause_ns
        for group, routes in self._groups.items():
            under_way = self._renewing.get(group)
            if routes.opened and routes.used_ns <= least_ns and (under_way is None or under_way.done()):
                self._renewing[group] = asyncio.ensure_future(self._renew_at(group))
        self._await_renewal()

    async def _renew_at(self, group: int) -> None:
        routes = self._groups[group]
        self._used(routes)
        await self._run(OpenSession(routes.sent + 1), group)

    # --- the end ---------------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Ends the session wherever it is open; what cannot be asked now ends by its time to live."""
        self._over = True
        if self._timer is not None:
            self._timer.cancel()
        for group, routes in self._groups.items():
            if routes.opened:
                routes.opened = False
                await self._run(CloseSession(), group)
