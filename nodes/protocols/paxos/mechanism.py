"""Packed Multi-Paxos (DCFS3): the part of one server in the agreement of its group, its roles and its way between them.

Failure detection is the coordination service's: who has a session has a place in the view; who holds the lock leads. Everything that makes a new
primary safe comes from Paxos itself. Whatever a watcher tells, one loop looks at the view again and does what it asks for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.config import MILLISECOND, ServerConfig, group_of
from nodes.metadata.operations import WRITES
from nodes.metadata_server.handing import Handlers
from nodes.metadata_server.server import MetadataServer
from nodes.metadata_server.tenure import Choice
from nodes.protocols.paxos import messages as m
from nodes.protocols.paxos.ballot import BALLOT_FILE, BALLOT_MAX
from nodes.protocols.paxos.images import ImageReading
from nodes.protocols.paxos.member import Member, open_member
from nodes.protocols.paxos.primary import Primary
from nodes.protocols.paxos.reading import Reading
from nodes.protocols.paxos.takeover import JOINING, PRIMARY
from nodes.replicas.anew import start_anew_if_damaged
from nodes.replicas.election import Election, await_members
from nodes.replicas.view import INCARNATION, Place
from nodes.scope import Tenure
from nodes.wire.messages import CheckOperation, Request
from nodes.world import World, ensure

JOIN_NS = 500 * MILLISECOND


class Paxos:
    """One member of a replica group."""

    def __init__(self, server: MetadataServer[Primary], member: Member, choice: Choice):
        self._server = server
        self._world = server.world
        self._group = server.group
        self._member = member
        self._choice = choice
        self._session = server.session
        self._following = server.following
        self._reading = Reading(member)
        self._images = ImageReading(member, server.photographer.stop)
        self._draw_wait_ns = server.config.cluster.timing.draw_wait_ms * MILLISECOND
        self._election = Election(self._world, member.view, self._draw_wait_ns, self._group.members)
        acceptor = member.acceptor
        acceptor.on_promised = self._on_promised
        acceptor.on_executed = self._reading.on_executed
        acceptor.on_lacking = self._images.begin
        self.handlers: Handlers = self._table()

    @property
    def epoch(self) -> int:
        return self._member.acceptor.promised

    @property
    def rests(self) -> bool:
        return not self._images.busy

    def forget_session(self) -> None:
        self._election.forget_session()

    def begin(self) -> None:
        self._world.scope.spawn(self._member.acceptor.run(), "acceptor")
        self._world.scope.spawn(self._reading.renew(), "read lease")

    def stop_reading(self) -> None:
        self._images.stop()

    # --- messages -------------------------------------------------------------------------------------------------

    def _table(self) -> Handlers:
        to_leader = self._session.to_leader
        of_primaries: Handlers = {
            **self._member.acceptor.handlers,
            m.Outbid: lambda peer, message: self._on_promised(min(message.promised, BALLOT_MAX)),
        }
        return {
            **{kind: self._of_configured(step) for kind, step in of_primaries.items()},
            m.PaxosPromise: to_leader(Primary.on_promise),
            m.Accepted: to_leader(Primary.on_accepted),
            m.AskLease: to_leader(Primary.on_ask_lease, answers=False),
            m.PaxosJoin: to_leader(Primary.on_join, answers=False),
            m.LeaseGranted: self._reading.on_granted,
            Request: self._on_request,
            CheckOperation: self._on_check,
        }

    def _of_configured(self, step: Callable[[str, Any], None]) -> Callable[[str, Any], None]:
        """Only servers that the group was configured with are ever elected, so that only they speak of a higher ballot."""

        def deliver(peer: str, message: Any) -> None:
            if peer in self._group.members:
                step(peer, message)
            else:
                self._member.ignoring.tell(peer, message, f"{peer} is never a primary of {self._group.name}")

        return deliver

    def _on_request(self, peer: str, message: Request) -> None:
        """Writes at the primary; reads anywhere."""
        if self._session.leader is not None:
            self._session.leader.answering.on_request(peer, message)
        elif type(message.operation) in WRITES:
            self._reading.on_other(peer, message)
        else:
            self._reading.on_read(peer, message)

    def _on_check(self, peer: str, message: CheckOperation) -> None:
        if self._session.leader is not None:
            self._session.leader.on_check(peer, message)
        else:
            self._reading.on_other(peer, message)

    def _on_promised(self, ballot: int) -> None:
        """A higher ballot has begun: leases of lower ones are void, and a primary of a lower one serves no more."""
        if ballot >= self._member.acceptor.promised:
            self._reading.on_promised()
        primary = self._session.leader
        if primary is not None and primary.on_begun(ballot):
            self._following.wake()

    # --- the view --------------------------------------------------------------------------------------------------

    async def enter(self) -> None:
        view = self._member.view
        await ensure(self._world.coordination, INCARNATION)
        await view.prepare(self._group.members, self._world.network.address)
        member = self._member
        configuration, _ = await view.configuration()
        if configuration.disks.get(member.name) != member.identity.id.instance:
            node, _ = await view.epoch()
            await member.acceptor.promise(node.epoch)
        await self._following.take_place(JOINING, "has entered the view")

    async def look_at_view(self) -> None:
        """One look: what the three watchers point at, and what follows from it."""
        following, name = self._following, self._world.name
        seen = await following.look()
        if seen.owner == name:
            await self._member.view.drop_stale_lock(seen.session)
        elif seen.place is None or (not seen.owner and seen.place.state == PRIMARY):
            await self._come_back(seen.owner)
        elif not seen.owner and name in self._group.members:
            await self._compete()
        else:
            self._follow(seen.place)
            await following.changed(JOIN_NS)

    async def _come_back(self, owner: str) -> None:
        """A server that lost its place with its lock leaves the election to the others for a while."""
        following = self._following
        if not owner and following.active == self._world.name:
            await following.changed(5 * self._draw_wait_ns)
        await following.take_place(JOINING, "has entered the view again")

    def _follow(self, place: Place) -> None:
        """The view says what we are: a secondary receives, one outside the view offers itself to the primary."""
        member, following = self._member, self._following
        if place.state != PRIMARY:
            following.believe(place.state, f"the view says {place.state}")
        if place.state == JOINING and following.other_leads:
            self._world.network.send(
                following.active,
                m.PaxosJoin(member.acceptor.promised, member.queue.success, member.identity.id.instance),
            )

    # --- lock -----------------------------------------------------------------------------------------------------

    async def _compete(self) -> None:
        member, following = self._member, self._following
        if following.epoch == 0:
            await await_members(self._world, member.view, self._group.members)
        member.step("election", "draw", "nobody holds the lock", following.epoch)
        if not await self._election.run(member.last):
            await following.changed(self._draw_wait_ns)
            return
        member.step("election", "lock", f"{self._world.name} holds the lock", following.epoch)
        self._server.stop_reading()
        await self._session.lead(self._begin)

    def _begin(self, tenure: Tenure, over: Callable[[], None]) -> Primary:
        """It takes up the calls that waited for a primary."""
        self._reading.lease.end()
        primary = Primary(self._member, self._choice, tenure, over)
        for peer, call in self._reading.take_kept():
            if isinstance(call, Request):
                primary.answering.on_request(peer, call)
            else:
                primary.on_check(peer, call)
        return primary


def start(world: World, config: ServerConfig, choice: Choice) -> None:
    """Starts a metadata server in this world. Raises UnknownFormat, UnknownJournal, UnknownSeal, OSError of what lies on the disk.

    One whose log is damaged before its end begins with an empty one; its new disk counts in no majority before it is recorded.
    """

    def begin() -> None:
        member = open_member(world, config, group_of(config.cluster, config.group), choice.image_store)
        server: MetadataServer[Primary] = MetadataServer(
            world, config, member.replica, lambda server: Paxos(server, member, choice)
        )
        world.scope.spawn(_begin_life(member, server), "start")

    start_anew_if_damaged(world, begin, [BALLOT_FILE])


async def _begin_life(member: Member, server: MetadataServer[Primary]) -> None:
    """What was read from the disk is durable before anybody hears of it. Raises OSError."""
    await member.identity.keep()
    server.start()


REPLICATION = {"paxos": start}
MESSAGES = COUNTED = m.MESSAGES
RECORDS_OF = m.records_of
