"""Packed Multi-Paxos (DCFS3): the roles of one server and its way between them.

Failure detection is the coordination service's: who has a session has a place in the view; who holds the lock leads. Everything that makes a new
primary safe comes from Paxos itself. Whatever a watcher tells, one loop looks at the view again and does what it asks for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from nodes.blocks.keeper import BlockKeeper
from nodes.config import MILLISECOND, ServerConfig, group_of
from nodes.metadata.operations import WRITES
from nodes.protocols.paxos import messages as m
from nodes.protocols.paxos.ballot import BALLOT_MAX
from nodes.protocols.paxos.member import Member, answer_questions, open_member
from nodes.protocols.paxos.primary import Primary
from nodes.protocols.paxos.reading import Reading
from nodes.protocols.paxos.takeover import JOINING, PRIMARY
from nodes.replicas.election import Election, await_members
from nodes.replicas.view import INCARNATION, Place, Watch
from nodes.scope import Scope, Tenure
from nodes.storage.journal_file import JournalCorrupt
from nodes.trace import events
from nodes.trace.events import RoleChanged
from nodes.wire.messages import AskView, CheckOperation, Mark, Message, Request, ViewCopy
from nodes.world import CoordinationError, World

RETRY_NS = 100 * MILLISECOND
JOIN_NS = 500 * MILLISECOND


class Paxos:
    """One metadata server of a replica group."""

    def __init__(self, world: World, config: ServerConfig):
        self._world = world
        self._group = group_of(config.cluster, config.group)
        self._member: Member = open_member(world, config, self._group)
        self._reading = Reading(self._member)
        self._look = asyncio.Event()
        self._watches = [Watch(self._look.set) for _ in range(3)]
        timing = config.cluster.timing
        self._draw_wait_ns = timing.draw_wait_ms * MILLISECOND
        self._election = Election(world, self._member.view, self._draw_wait_ns)
        self._session: Scope | None = None
        self._primary: Primary | None = None
        self._role = ""
        self._known_ballot = 0
        self._known_primary = ""
        self._addresses: dict[str, str] = {}
        self._blocks = BlockKeeper(
            world, self._group, config.cluster.data, self._member.state, self._commands_data_nodes
        )
        self._handlers = self._table()
        acceptor = self._member.acceptor
        acceptor.on_promised = self._on_promised
        acceptor.on_executed = self._reading.on_executed

    def start(self) -> None:
        world = self._world
        world.network.receive(self.on_message)
        world.scope.spawn(self._member.acceptor.run(), "acceptor")
        world.scope.spawn(self._reading.renew(), "read lease")
        world.scope.spawn(self._blocks.run(), "block map")
        world.coordination.on_state(self.on_state)
        self.on_state(world.coordination.state)
        answer_questions(self._member, lambda: self._primary.counters() if self._primary else None)

    # --- messages -------------------------------------------------------------------------------------------------

    def _table(self) -> dict[type[Message], Callable[[str, Any], None]]:
        return {
            **self._member.acceptor.handlers,
            m.PaxosPromise: self._to_primary(Primary.on_promise),
            m.Accepted: self._to_primary(Primary.on_accepted),
            m.AskLease: self._to_primary(Primary.on_ask_lease),
            m.PaxosJoin: self._to_primary(Primary.on_join),
            m.LeaseGranted: self._reading.on_granted,
            m.Outbid: lambda peer, message: self._on_promised(min(message.promised, BALLOT_MAX)),
            Request: self._on_request,
            CheckOperation: self._on_check,
            AskView: self._on_ask_view,
            **self._blocks.table(),
        }

    def _to_primary(self, step: Callable[[Primary, str, Any], None]) -> Callable[[str, Any], None]:
        def deliver(peer: str, message: Any) -> None:
            if self._primary is not None:
                step(self._primary, peer, message)

        return deliver

    def on_message(self, peer: str, message: Message) -> None:
        """Every message goes straight to its step; one that no table knows is an event, never a crash."""
        handler = self._handlers.get(type(message))
        if handler is None:
            self._member.warn(
                f"{peer} sent a {type(message).__name__}, which a metadata server does not take"
            )
        else:
            handler(peer, message)

    def _on_request(self, peer: str, message: Request) -> None:
        """Writes at the primary; reads anywhere."""
        if self._primary is not None:
            self._primary.on_request(peer, message)
        elif type(message.operation) in WRITES:
            self._reading.on_other(peer, message)
        else:
            self._reading.on_read(peer, message)

    def _on_check(self, peer: str, message: CheckOperation) -> None:
        if self._primary is not None:
            self._primary.on_check(peer, message)
        else:
            self._reading.on_other(peer, message)

    def _on_ask_view(self, peer: str, message: AskView) -> None:
        self._world.network.send(
            peer, ViewCopy(self._known_ballot, self._known_primary, dict(self._addresses))
        )

    def _commands_data_nodes(self) -> tuple[int, bool]:
        """Only the primary does, for as long as it may answer."""
        primary = self._primary
        if primary is None or not primary.serving or not primary.lease.holds:
            return 0, False
        return primary.ballot, primary.quiet

    def _on_promised(self, ballot: int) -> None:
        """A higher ballot has begun: leases of lower ones are void, and a primary of a lower one serves no more."""
        if ballot >= self._member.acceptor.promised:
            self._reading.on_promised()
        if self._primary is not None and 0 < self._primary.ballot < ballot:
            self._primary.stand_down(f"ballot {ballot} has begun")
            self._look.set()

    # --- session --------------------------------------------------------------------------------------------------

    def on_state(self, state: str) -> None:
        """The coordination session: suspended stops answers, lost ends whatever it held."""
        if state == "connected":
            for watch in self._watches:
                watch.forget()
            self._election.forget_session()
            if self._session is None or not self._session.open:
                self._session = self._world.scope.child("session")
                self._session.spawn(self._membership(), "membership")
            self._look.set()
        elif state == "suspended":
            if self._primary is not None:
                self._primary.lease.suspend()
        elif self._session is not None:
            self._lose_session()

    def _lose_session(self) -> None:
        assert self._session is not None
        if self._primary is not None:
            self._primary.stand_down("the coordination session is lost")
        self._session.close()
        self._session = None
        self._believe("none", "the coordination session is lost")

    def _believe(self, role: str, reason: str) -> None:
        if role != self._role:
            self._role = role
            current = self._member.queue.current
            self._world.trace.emit(RoleChanged(self._group.name, role, self._known_ballot, current, reason))

    async def _membership(self) -> None:
        """Goes on for as long as the session does."""
        prepared = False
        while True:
            try:
                if not prepared:
                    await self._enter()
                    prepared = True
                await self._look_at_view()
            except CoordinationError as error:
                self._member.warn(f"the view could not be read: {type(error).__name__}")
                await self._world.clock.sleep(RETRY_NS)

    async def _enter(self) -> None:
        view = self._member.view
        await self._world.coordination.ensure(INCARNATION)
        await view.prepare(self._group.members, self._world.network.address)
        await self._take_place("has entered the view")

    async def _take_place(self, reason: str) -> None:
        last = self._last
        await self._member.view.take_place(Place(JOINING, last.epoch, last.sn))
        self._believe(JOINING, reason)

    @property
    def _last(self) -> Mark:
        """Where this server's queue ends: the largest goes first in an election."""
        return Mark(0, self._member.queue.ballot, self._member.queue.current, 0)

    async def _look_at_view(self) -> None:
        """One look: what the three watchers point at, and what follows from it."""
        view = self._member.view
        self._look.clear()
        own, leading, lock = self._watches
        node, _ = await view.epoch(leading)
        owner, session = await view.lock_owner(lock)
        place = await view.place(self._world.name, own)
        await self._know(node.epoch, node.active)
        if owner == self._world.name:
            await view.drop_stale_lock(session)
        elif place is None or (not owner and place[0].state == PRIMARY):
            await self._come_back(owner)
        elif not owner and self._world.name in self._group.members:
            await self._compete()
        else:
            if place is not None:
                self._follow(place[0])
            await self._wait_for_change(JOIN_NS)

    async def _come_back(self, owner: str) -> None:
        """A server that lost its place with its lock leaves the election to the others for a while."""
        if not owner and self._known_primary == self._world.name:
            await self._wait_for_change(5 * self._draw_wait_ns)
        await self._take_place("has entered the view again")

    async def _know(self, ballot: int, primary: str) -> None:
        if (ballot, primary) == (self._known_ballot, self._known_primary):
            return
        self._known_ballot, self._known_primary = ballot, primary
        view = self._member.view
        for server in await view.known_servers():
            if server != self._world.name:
                self._addresses[server] = await view.address(server)
                self._world.network.know(server, self._addresses[server])

    def _follow(self, place: Place) -> None:
        """The view says what we are: a secondary receives, one outside the view offers itself to the primary."""
        if place.state != PRIMARY:
            self._believe(place.state, f"the view says {place.state}")
        if place.state == JOINING and self._known_primary not in ("", self._world.name):
            member = self._member
            member.counters.send(
                self._known_primary, m.PaxosJoin(member.acceptor.promised, member.queue.success)
            )

    async def _wait_for_change(self, longest_ns: int) -> None:
        timer = self._world.clock.call_later(longest_ns, self._look.set)
        await self._look.wait()
        timer.cancel()

    # --- lock -----------------------------------------------------------------------------------------------------

    async def _compete(self) -> None:
        member = self._member
        if self._known_ballot == 0:
            await await_members(self._world, member.view, self._group.members)
        member.step("election", "draw", "nobody holds the lock", self._known_ballot)
        if not await self._election.run(self._last):
            await self._wait_for_change(self._draw_wait_ns)
            return
        member.step("election", "lock", f"{self._world.name} holds the lock", self._known_ballot)
        await self._lead()

    async def _lead(self) -> None:
        """Takeover and service, until the tenure ends for any reason."""
        assert self._session is not None
        ended = asyncio.Event()

        def over() -> None:
            self._primary = None
            ended.set()

        tenure = Tenure(PRIMARY, self._known_ballot + 1, self._session)
        self._reading.lease.end()
        primary = self._primary = Primary(self._member, tenure, over)
        for peer, call in self._reading.take_kept():
            self._handlers[type(call)](peer, call)
        self._role = ""
        tenure.spawn(primary.run(), "takeover and service")
        tenure.spawn(self._guard_lock(primary), "lock watch")
        await ended.wait()
        self._role = "none"
        if primary.sits_out:
            await self._world.clock.sleep(self._world.coordination.session_timeout_ns)

    async def _guard_lock(self, primary: Primary) -> None:
        """The primary's watchers: its place, the ballot, the lock; losing any of them ends the tenure."""
        view, world = self._member.view, self._world
        while True:
            self._look.clear()
            own, ballot, lock = self._watches
            try:
                owner, session = await view.lock_owner(lock)
                node, _ = await view.epoch(ballot)
                place = await view.place(world.name, own)
            except CoordinationError:
                await world.clock.sleep(RETRY_NS)
                continue
            if owner != world.name or session != world.coordination.session:
                primary.stand_down("the lock is lost")
            elif primary.ballot and node.epoch > primary.ballot:
                primary.stand_down(f"ballot {node.epoch} has begun")
            elif place is None:
                primary.stand_down("the view has no place for this server any more")
            elif primary.serving and place[0].state != PRIMARY:
                primary.stand_down(f"the view says {place[0].state}")
            await self._look.wait()


def start(world: World, config: ServerConfig) -> None:
    """Starts a metadata server in this world. Raises Damaged, OSError of what lies on the disk."""
    try:
        server = Paxos(world, config)
    except JournalCorrupt as corrupt:
        world.trace.emit(events.JournalCorrupt(corrupt.file, corrupt.offset, corrupt.sn, corrupt.reason))
        raise
    server.start()
