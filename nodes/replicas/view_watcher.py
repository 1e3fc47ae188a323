"""One server's knowledge of its group's view, and the role that it believes to have (CFS §3.3, §4.2).

The server holds three watchers: on its own place, on the epoch node, which names the leader, and on the lock. When any of them fires, the
view is read again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple, Protocol

from nodes.config import GroupConfig, ServerConfig
from nodes.replicas.view import GlobalView, OneShotWatch, ServerPlace
from nodes.roles import FOLLOWING
from nodes.trace.events import RoleChanged
from nodes.trace.present import UNKNOWN
from nodes.wire.messages import AskView, Mark, Refused, ViewCopy
from nodes.world import World, wait_at_most

CLIENTS_MAX = 10_000
"""Clients that are sent each new view."""


class ViewServer(Protocol):
    """The part of a replica group's server that the view needs."""

    world: World
    config: ServerConfig
    group: GroupConfig
    view: GlobalView

    @property
    def last(self) -> Mark:
        """The end of this server's journal."""


class ViewSnapshot(NamedTuple):
    """One read of the view."""

    owner: str
    """Owner of the lock; empty when no server holds it."""
    session: int
    """Session in which the lock was taken."""
    place: ServerPlace | None


class ViewWatcher:
    """One server's view of its group, as it was read last."""

    def __init__(self, server: ViewServer):
        self._server = server
        self.epoch = 0
        self.active = ""
        """The leader of this epoch."""
        self.role = ""
        self._holder = ""
        self._addresses: dict[str, str] = {}
        self._asked_by: dict[str, None] = {}
        """Clients that are sent each new view, the oldest first."""
        self._changed = asyncio.Event()
        self._woken_by = UNKNOWN
        self._forgets_watches = server.config.cluster.mutations.forgotten_watch
        self._watches = [OneShotWatch(self.wake, self._forgets_watches) for _ in range(3)]
        self._addresses_due = False
        """Whether the addresses of this epoch have yet to be read."""

    def wake(self) -> None:
        """Requests another look at the view."""
        self._woken_by = self._server.world.trace.at()
        self._changed.set()

    def _follow_change(self) -> None:
        """Continues with the cause of the change, even if a timer or an earlier look was the first to read it."""
        if self._changed.is_set():
            self._server.world.trace.follows(self._woken_by)

    def forget_session(self) -> None:
        for watch in self._watches:
            watch.forget()

    async def look(self, first: Callable[[], Awaitable[None]] | None = None) -> ViewSnapshot:
        """Reads the nodes of the three watchers. A change after `first` has begun wakes the server again. Raises CoordinationError."""
        server, view = self._server, self._server.view
        self._follow_change()
        self._changed.clear()
        if first is not None:
            await first()
        own, leading, lock = self._watches
        node, _ = await view.epoch(leading)
        owner, session = await view.lock_owner(lock)
        self._holder = owner
        view.confirmations.follow(owner)
        place = await view.place(server.world.name, own)
        await self._know(node.epoch, node.active)
        self._follow_change()
        return ViewSnapshot(owner, session, None if place is None else place[0])

    async def _know(self, epoch: int, active: str) -> None:
        if (epoch, active) != (self.epoch, self.active):
            self.epoch, self.active, self._addresses_due = epoch, active, True
        if self._addresses_due:
            self._addresses_due = False
            try:
                await self._read_addresses()
            except BaseException:  # Also when a leader's look is cancelled: it stands down.
                self._addresses_due = True
                raise
            for client in self._asked_by:
                self._send_view(client)

    async def _read_addresses(self) -> None:
        world, view = self._server.world, self._server.view
        for name in await view.known_servers():
            if name != world.name:
                self._addresses[name] = await view.address(name)
                world.network.know(name, self._addresses[name])

    async def changed(self, longest_ns: int = 0) -> None:
        """Waits until the view must be read again, or for at most `longest_ns`; 0 sets no limit."""
        trusts_watches = self._forgets_watches and self.role in FOLLOWING
        if longest_ns and not trusts_watches:
            await wait_at_most(self._server.world.clock, self._changed, longest_ns)
        else:
            await self._changed.wait()

    def is_written_by_other(self, epoch: int, peer: str) -> bool:
        """Whether the view names another server than this peer as the writer of the epoch. The view may lag behind a higher epoch."""
        return epoch == self.epoch and peer != self.active != ""

    @property
    def holder(self) -> str:
        """Owner of the lock when the view was read last; empty when no server held it."""
        return self._holder

    @property
    def other_leads(self) -> bool:
        """Whether the view names another server as leader."""
        return self.active not in ("", self._server.world.name)

    def ours(self, seen: ViewSnapshot) -> bool:
        """Whether this server took the lock in its present session."""
        world = self._server.world
        return seen.owner == world.name and seen.session == world.coordination.session

    def believe(self, role: str, reason: str) -> None:
        if role != self.role:
            self.role = role
            server = self._server
            server.world.trace.emit(RoleChanged(server.group.name, role, self.epoch, server.last.sn, reason))

    async def take_place(self, state: str, reason: str, disk: int = 0) -> None:
        """Enters the view. Raises CoordinationError."""
        last = self._server.last
        await self._server.view.take_place(ServerPlace(state, last.epoch, last.sn, disk))
        self.believe(state, reason)

    def refuse(self, peer: str, number: int) -> None:
        """Refuses a call that only the leader takes. The leader is named as soon as it holds the lock, and no longer: also this server itself, which
        does not take calls yet."""
        self._server.world.network.send(peer, Refused(number, self.epoch, "not active", self._holder))

    def on_ask_view(self, peer: str, message: AskView) -> None:
        """From now on the client is sent each new view as well."""
        self._asked_by[peer] = None
        if len(self._asked_by) > CLIENTS_MAX:
            del self._asked_by[next(iter(self._asked_by))]
        self._send_view(peer)

    def _send_view(self, client: str) -> None:
        copy = ViewCopy(self.epoch, self.active, dict(self._addresses))
        self._server.world.network.send(client, copy)
