"""A client's sessions: opened at each group before the first change there, renewed while the client lives, closed when it ends (rule 10)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from nodes.client.routing import Routes
from nodes.metadata.operations import CloseSession, OpenSession
from nodes.wire.messages import Answer
from nodes.world import World

TIMES = 3
"""Number of attempts to open or renew a session. Each uses a stamp that the group sent just before, and a late request is refused."""
SessionCall = OpenSession | CloseSession


class Keeping:
    """The sessions of one client by group. `run` carries out one call to its end; it returns None when the outcome is unknown."""

    def __init__(
        self,
        world: World,
        ttl_ns: int,
        groups: dict[int, Routes],
        run: Callable[[SessionCall, int], Awaitable[Answer | None]],
    ):
        self._clock = world.clock
        self._scope = world.scope
        self._pause_ns = ttl_ns // 3
        self._groups = groups
        self._run = run
        self._opening: dict[int, asyncio.Future[None]] = {}
        self._renewing: dict[int, asyncio.Future[None]] = {}
        """Renewals under way by group. A silent group has a single renewal, however often another one falls due."""
        self._timer: Any = None
        self.over = False
        """The client has ended. Its sessions are being closed, or have been."""

    async def open_at(self, group: int) -> None:
        """Opens the session at a group by a record, once per group."""
        opening = self._opening.get(group)
        if opening is None:
            opening = self._opening[group] = self._scope.spawn(self._open(group), "session")
        if not opening.done():
            await asyncio.shield(opening)  # Other calls wait for it, too.

    def open_anew(self, group: int) -> None:
        """The group does not know the session. The present call is refused, and the next call opens the session again."""
        self._opening.pop(group, None)
        self._groups[group].opened = False

    async def _open(self, group: int) -> None:
        routes = self._groups[group]
        routes.opened = await self._record(group)
        if routes.opened:
            self._used(routes)
            self._await_renewal()

    async def _record(self, group: int) -> bool:
        """Opens or renews the session by a record; False when that failed."""
        for _ in range(TIMES):
            answer = await self._run(OpenSession(self._groups[group].sent + 1), group)
            if answer is None or not answer.error:
                break
        return answer is not None and not answer.error

    # --- renewing --------------------------------------------------------------------------------------------------

    def _used(self, routes: Routes) -> None:
        routes.used_ns = self._clock.monotonic_ns()

    def _await_renewal(self) -> None:
        if self._timer is None and not self.over:
            self._timer = self._clock.call_later(self._pause_ns, self._renew)

    def _renew(self) -> None:
        """Renews the session by a record at each group without a change for a third of the time to live."""
        self._timer = None
        if not self._scope.open:
            return
        least_ns = self._clock.monotonic_ns() - self._pause_ns
        for group, routes in self._groups.items():
            under_way = self._renewing.get(group)
            if routes.opened and routes.used_ns <= least_ns and (under_way is None or under_way.done()):
                self._renewing[group] = self._scope.spawn(self._renew_at(group), "renewal")
        self._await_renewal()

    async def _renew_at(self, group: int) -> None:
        self._used(self._groups[group])
        await self._record(group)

    # --- the end ---------------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Ends the session wherever it is open. At a group that does not answer it ends by its time to live."""
        self.over = True
        if self._timer is not None:
            self._timer.cancel()
        for group, routes in self._groups.items():
            if routes.opened:
                routes.opened = False
                await self._run(CloseSession(), group)
