"""What one server knows of its group's view, and the role it believes to have (CFS §3.3, §4.2).

It holds three watchers: on its own place, on who leads (the epoch's node) and on the lock. Whatever they tell, the view is looked at again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple, Protocol

from nodes.config import GroupConfig, ServerConfig
from nodes.replicas.view import GlobalView, Place, Watch
from nodes.roles import FOLLOWING
from nodes.trace.events import RoleChanged
from nodes.wire.messages import AskView, Mark, Refused, ViewCopy
from nodes.world import World


class Server(Protocol):
    """A server of a replica group as far as the view concerns it."""

    world: World
    config: ServerConfig
    group: GroupConfig
    view: GlobalView

    @property
    def last(self) -> Mark:
        """Where its journal ends."""


class Seen(NamedTuple):
    """One look at the view."""

    owner: str
    """Of the lock; empty when nobody holds it."""
    session: int
    """In which the lock was taken."""
    place: Place | None
    """Our own."""


class Following:
    """One server's view of its group, as it was seen last."""

    def __init__(self, server: Server):
        self._server = server
        self.epoch = 0
        self.active = ""
        """Who leads in this epoch."""
        self.role = ""
        self._holder = ""
        """Of the lock."""
        self._addresses: dict[str, str] = {}
        self._changed = asyncio.Event()
        self._forgets_watches = server.config.cluster.mutations.forgotten_watch
        self._watches = [Watch(self.wake, self._forgets_watches) for _ in range(3)]

    def wake(self) -> None:
        """The view is to be looked at again."""
        self._changed.set()

    def forget_session(self) -> None:
        for watch in self._watches:
            watch.forget()

    async def look(self, first: Callable[[], Awaitable[None]] | None = None) -> Seen:
        """Reads what the three watchers point at; what comes after `first` has begun wakes. Raises CoordinationError."""
        server, view = self._server, self._server.view
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
        return Seen(owner, session, None if place is None else place[0])

    async def _know(self, epoch: int, active: str) -> None:
        if (epoch, active) == (self.epoch, self.active):
            return
        self.epoch, self.active = epoch, active
        world, view = self._server.world, self._server.view
        for name in await view.known_servers():
            if name != world.name:
                self._addresses[name] = await view.address(name)
                world.network.know(name, self._addresses[name])

    async def changed(self, longest_ns: int = 0) -> None:
        """Waits until the view is to be looked at again, or for so long; 0: as long as it takes."""
        trusts_watches = self._forgets_watches and self.role in FOLLOWING
        if longest_ns and not trusts_watches:
            timer = self._server.world.clock.call_later(longest_ns, self.wake)
            await self._changed.wait()
            timer.cancel()
        else:
            await self._changed.wait()

    @property
    def other_leads(self) -> bool:
        """Whether the view names a leader, and it is not this server."""
        return self.active not in ("", self._server.world.name)

    def ours(self, seen: Seen) -> bool:
        """Whether the lock was taken by this server in its present session."""
        world = self._server.world
        return seen.owner == world.name and seen.session == world.coordination.session

    def believe(self, role: str, reason: str) -> None:
        if role != self.role:
            self.role = role
            server = self._server
            server.world.trace.emit(RoleChanged(server.group.name, role, self.epoch, server.last.sn, reason))

    async def take_place(self, state: str, reason: str) -> None:
        """Enters the view. Raises CoordinationError."""
        last = self._server.last
        await self._server.view.take_place(Place(state, last.epoch, last.sn))
        self.believe(state, reason)

    def refuse(self, peer: str, number: int) -> None:
        """A call that only the leader takes: it is named as soon as it holds the lock, and no longer."""
        world = self._server.world
        active = self._holder if self._holder != world.name else ""
        world.network.send(peer, Refused(number, self.epoch, "not active", active))

    def on_ask_view(self, peer: str, message: AskView) -> None:
        copy = ViewCopy(self.epoch, self.active, dict(self._addresses))
        self._server.world.network.send(peer, copy)
