"""A server takes part in its group while its coordination session lasts, and leads it while it holds the lock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

from nodes.ignored_messages import Ignoring
from nodes.replicas.leader import RETRY_NS, Leader, guard_lock
from nodes.replicas.view_watcher import ViewServer, ViewWatcher
from nodes.scope import Scope, Tenure
from nodes.states import SessionState
from nodes.trace.events import Warned
from nodes.world import CoordinationError

L = TypeVar("L", bound=Leader)


class ViewParticipant(Protocol):
    """One server's steps in the view of its group."""

    def forget_session(self) -> None:
        """A new session with coordination has begun; watches of the old one are gone."""

    async def enter(self) -> None:
        """Makes this server's place, once per session. Raises CoordinationError."""

    async def look_at_view(self) -> None:
        """Looks at the view once and acts on it; run again and again. Raises CoordinationError."""


class ReplicaSession(Generic[L]):
    """One server's session, in a family whose leader holds the lock."""

    def __init__(
        self,
        server: ViewServer,
        following: ViewWatcher,
        follower: ViewParticipant,
        on_lost: Callable[[], None],
    ):
        self._server = server
        self._following = following
        self._follower = follower
        self.refuse = following.refuse
        self.on_ask_view = following.on_ask_view
        self.behind = False
        self.questions: dict[str, Callable[[dict[str, Any]], Any]] = {}
        self._ignoring = Ignoring(server.world)
        self._stop_recorded = False
        """The view records that no answer is sent under the lock that this server took last, in this life or an earlier one."""
        self._on_lost = on_lost
        self.scope: Scope | None = None
        self.leader: L | None = None
        """The leader while this server holds the lock; else None."""

    @property
    def epoch(self) -> int:
        """The newest epoch of the view."""
        return self._following.epoch

    def start(self) -> None:
        coordination = self._server.world.coordination
        coordination.on_state(self.on_state)
        coordination.on_close(lambda: [] if self.leader is None else self._server.view.stop_changes())
        self.on_state(coordination.state)

    def on_state(self, state: SessionState) -> None:
        """A suspended session stops answers; a lost one ends every place and lock of this server."""
        if state == "connected":
            self._connected()
        elif state == "suspended":
            if self.leader is not None:
                self.leader.lease.suspend()
        elif self.scope is not None:
            self._lose()

    def _connected(self) -> None:
        self._following.forget_session()
        self._server.view.confirmations.forget_session()
        self._follower.forget_session()
        if self.scope is None or not self.scope.open:
            self.scope = self._server.world.scope.child("session")
            self._stop_recorded = False
            confirmations = self._server.view.confirmations
            self.scope.spawn(confirmations.keep_up(self._server.world.clock), "confirmations")
            self.scope.spawn(self._take_part(), "membership")
        self._following.wake()
        if self.leader is not None:
            self.leader.on_connected()

    def _lose(self) -> None:
        assert self.scope is not None
        reason = "the coordination session is lost"
        if self.leader is not None:
            self.leader.stand_down(reason)
        self._on_lost()
        self.scope.close()
        self.scope = None
        self._following.believe("none", reason)

    async def _take_part(self) -> None:
        world, confirmations = self._server.world, self._server.view.confirmations
        entered, warned = False, ""
        while True:
            try:
                await self._record_stopped()
                if not entered:
                    await self._follower.enter()
                    await confirmations.look_around(world.clock)
                    entered = True
                await self._follower.look_at_view()
                warned = ""
            except CoordinationError as error:
                self._stop_recorded = False
                reported = f"the view could not be read: {type(error).__name__} {error}".strip()
                if reported != warned:
                    world.trace.emit(Warned(reported))
                warned = reported
                await world.clock.sleep(RETRY_NS)

    async def _record_stopped(self) -> None:
        """Records that this server does not lead: the next holder of the lock need not wait for it. Raises CoordinationError."""
        assert self.leader is None
        if not self._stop_recorded:
            await self._server.view.confirmations.record_stopped()
            self._stop_recorded = True

    async def lead(self, make: Callable[[Tenure, Callable[[], None]], L]) -> None:
        """Runs takeover and service until the tenure ends for any reason. Raises CoordinationError."""
        assert self.scope is not None
        world, following = self._server.world, self._following
        ended = asyncio.Event()

        def over() -> None:
            self.leader = None
            ended.set()

        tenure = Tenure("leader", following.epoch + 1, self.scope)
        leader = self.leader = make(tenure, over)
        following.role = ""
        tenure.spawn(leader.run(), "takeover and service")
        tenure.spawn(guard_lock(following, leader, world.clock), "lock watch")
        await ended.wait()
        following.role = "none"
        self._stop_recorded = False
        await self._record_stopped()
        await leader.stay_out()

    def to_leader(
        self, step: Callable[[L, str, Any], None], answers: bool = True
    ) -> Callable[[str, Any], None]:
        """A handler that passes a message to this server's leader; without one the message is ignored. `answers`: the message is not a question
        of the peer."""

        def deliver(peer: str, message: Any) -> None:
            if self.leader is not None:
                self.leader.hear(peer, answers)
                step(self.leader, peer, message)
            else:
                self._ignoring.report(peer, message, "this server does not lead")

        return deliver
