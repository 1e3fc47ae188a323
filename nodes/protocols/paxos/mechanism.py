"""Packed Multi-Paxos (DCFS3): one server's part in the agreement of its group, its roles and the changes between them.

The coordination service detects failures: each live session has a place in the view, and the holder of the lock leads. Paxos itself makes a new
primary safe. One loop reads the view again after every notification of a watcher and does what the view asks for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from nodes.config import MILLISECOND, ServerConfig, group_of
from nodes.metadata.operations import WRITES
from nodes.metadata_server.checkpoints.rollback import RecordedIncarnations
from nodes.metadata_server.dispatch import Handlers
from nodes.metadata_server.image_reader import ImageReading
from nodes.metadata_server.server import MetadataServer
from nodes.metadata_server.tenure import ChosenMechanisms
from nodes.protocols.paxos import messages as m
from nodes.protocols.paxos.ballot import BALLOT_FILE, BALLOT_MAX
from nodes.protocols.paxos.follower_reads import FollowerReads
from nodes.protocols.paxos.images import begin_from_image
from nodes.protocols.paxos.member import PaxosMember, open_member
from nodes.protocols.paxos.primary import Primary
from nodes.protocols.paxos.takeover import JOINING, PRIMARY
from nodes.replicas.election import Election, await_members
from nodes.replicas.fresh_start import start_anew_if_damaged
from nodes.replicas.session import ReplicaSession
from nodes.replicas.view import ServerPlace
from nodes.replicas.view_watcher import ViewWatcher
from nodes.scope import Tenure
from nodes.wire.messages import CheckOperation, Request
from nodes.world import World

JOIN_NS = 500 * MILLISECOND


class Paxos:
    """One member of a replica group."""

    def __init__(self, server: MetadataServer, member: PaxosMember, choice: ChosenMechanisms):
        self._server = server
        self._world = server.world
        self._group = server.group
        self._member = member
        self._choice = choice
        self._following = ViewWatcher(member.replica)
        self.session: ReplicaSession[Primary] = ReplicaSession(
            member.replica, self._following, self, server.snapshot_writer.stop
        )
        self._reading = FollowerReads(member)
        self._images = ImageReading(self._world, server.snapshot_writer.stop)
        self._draw_wait_ns = server.config.cluster.timing.draw_wait_ms * MILLISECOND
        self._election = Election(self._world, member.view, self._draw_wait_ns, self._group.members)
        member.acceptor.attach(self)
        self._incarnations = RecordedIncarnations(member.replica, self._following.wake)
        member.replica.history.on_rolled_back.subscribe(server.blocks.ask_all)
        self.handlers: Handlers = self._table()

    @property
    def epoch(self) -> int:
        return self._member.acceptor.promised

    @property
    def rests(self) -> bool:
        return not self._images.busy

    def forget_session(self) -> None:
        self._election.forget_session()
        self._incarnations.watch.forget()

    def begin(self) -> None:
        self._world.scope.spawn(self._member.acceptor.run(), "acceptor")
        self._world.scope.spawn(self._reading.renew(), "read lease")
        self._world.scope.spawn(self._member.replica.history.keep_set_aside(), "set aside")

    def stop_reading(self) -> None:
        self._images.stop()

    # --- messages -------------------------------------------------------------------------------------------------

    def _table(self) -> Handlers:
        to_leader = self.session.to_leader
        of_primaries: Handlers = {
            **self._member.acceptor.handlers,
            m.Outbid: lambda peer, message: self.on_promised(min(message.promised, BALLOT_MAX)),
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
        """Restricts a step to the configured members. Only they are ever elected, so only they may announce a higher ballot."""

        def deliver(peer: str, message: Any) -> None:
            if peer in self._group.members:
                step(peer, message)
            else:
                self._member.ignoring.report(
                    peer, message, f"{peer} is never a primary of {self._group.name}"
                )

        return deliver

    def _on_request(self, peer: str, message: Request) -> None:
        """The primary takes every call; any other server answers reads and keeps or refuses writes."""
        if self.session.leader is not None:
            self.session.leader.answering.on_request(peer, message)
        elif type(message.operation) in WRITES:
            self._reading.on_other(peer, message)
        else:
            self._reading.on_read(peer, message)

    def _on_check(self, peer: str, message: CheckOperation) -> None:
        if self.session.leader is not None:
            self.session.leader.on_check(peer, message)
        else:
            self._reading.on_other(peer, message)

    # --- the acceptor ----------------------------------------------------------------------------------------------

    def on_promised(self, ballot: int) -> None:
        """A higher ballot ends the leases of lower ballots and the service of their primary."""
        if ballot >= self._member.acceptor.promised:
            self._reading.on_promised()
        primary = self.session.leader
        if primary is not None and primary.on_begun(ballot):
            self._following.wake()

    def on_durable(self, ballot: int, slot: int) -> None:
        if self.session.leader is not None:
            self.session.leader.on_durable(ballot, slot)

    def on_executed(self) -> None:
        self._reading.on_executed()

    def on_lacking(self, base: int) -> None:
        self._images.begin(partial(begin_from_image, self._member, base))

    # --- the view --------------------------------------------------------------------------------------------------

    async def enter(self) -> None:
        view = self._member.view
        await view.prepare(self._group.members, self._world.network.address)
        await self._member.replica.ledger.prepare()
        await self._incarnations.keep_up()
        # A new disk has promised nothing.
        await self._world.coordination.sync(view.root)
        node, _ = await view.epoch()
        await self._member.acceptor.promise(node.epoch)
        await self._join("has entered the view")

    async def look_at_view(self) -> None:
        """Reads the view that the three watchers cover, and acts on it once."""
        following, name = self._following, self._world.name
        seen = await following.look(self._incarnations.keep_up)
        if self._member.state.stuck_sn:
            self.on_lacking(self._member.queue.success)
        if seen.owner == name:
            await self._member.view.drop_stale_lock(seen.session)
        elif seen.place is None or self._is_void(seen.place, seen.owner):
            await self._come_back(seen.owner)
        elif not seen.owner and name in self._group.members:
            await self._compete()
        elif following.epoch > self._member.acceptor.promised:
            # A server that was cut off for long would refuse a ballot that is too far ahead.
            await self._member.acceptor.promise(following.epoch)
        else:
            self._follow(seen.place)
            await following.changed(JOIN_NS)

    async def _come_back(self, owner: str) -> None:
        """A server that lost its place and its lock waits before it takes part in an election again."""
        following = self._following
        if not owner and following.active == self._world.name:
            await following.changed(5 * self._draw_wait_ns)
        await self._join("has entered the view again")

    def _is_void(self, place: ServerPlace, owner: str) -> bool:
        """Whether the place is that of a primary without the lock, or was written for the disk of a former life."""
        former = place.disk not in (0, self._member.identity.id.instance)
        return former or (not owner and place.state == PRIMARY)

    async def _join(self, reason: str) -> None:
        await self._following.take_place(JOINING, reason, self._member.identity.id.instance)

    def _follow(self, place: ServerPlace) -> None:
        """Takes the role that the view records. A joining server offers itself to the primary. So does a secondary without a lease of this ballot:
        its promise may have come too late for an elected server that needs it."""
        member, following = self._member, self._following
        if place.state != PRIMARY:
            following.believe(place.state, f"the view says {place.state}")
        stays = self._reading.granted_ballot == following.epoch
        stays = stays or member.config.cluster.mutations.secondary_without_record
        if following.other_leads and (place.state == JOINING or not stays):
            self._world.network.send(
                following.active,
                m.PaxosJoin(member.acceptor.promised, member.queue.success, member.identity.id.instance),
            )

    # --- lock -----------------------------------------------------------------------------------------------------

    async def _compete(self) -> None:
        member, following = self._member, self._following
        if following.epoch == 0:
            await await_members(self._world, member.view, self._group.members)
        member.step("election", "draw", "the lock is free", following.epoch)
        if not await self._election.run(member.last):
            await following.changed(self._draw_wait_ns)
            return
        member.step("election", "lock", f"{self._world.name} holds the lock", following.epoch)
        self._server.stop_reading()
        await self.session.lead(self._begin)

    def _begin(self, tenure: Tenure, over: Callable[[], None]) -> Primary:
        """Starts the primary, which takes the calls that waited for one."""
        self._reading.lease.end()
        primary = Primary(self._member, self._choice, tenure, over)
        for peer, call in self._reading.take_kept():
            if isinstance(call, Request):
                primary.answering.on_request(peer, call)
            else:
                primary.on_check(peer, call)
        return primary


def start(world: World, config: ServerConfig, choice: ChosenMechanisms) -> None:
    """Starts a metadata server in this world. Raises UnknownFormat, UnknownJournal, UnknownSeal, OSError of damaged files on disk.

    A server whose log is damaged before its end begins with an empty log. Its new disk counts in no majority before it is recorded.
    """

    def begin() -> None:
        member = open_member(world, config, group_of(config.cluster, config.group), choice.image_store)
        server: MetadataServer = MetadataServer(
            world, config, member.replica, lambda server: Paxos(server, member, choice)
        )
        world.scope.spawn(_begin_life(member, server), "start")

    start_anew_if_damaged(world, begin, [BALLOT_FILE])


async def _begin_life(member: PaxosMember, server: MetadataServer) -> None:
    """The identity of the disk is durable before the server sends any message. Raises OSError."""
    await member.identity.keep()
    server.start()


REPLICATION = {"paxos": start}
MESSAGES = COUNTED = m.MESSAGES
RECORDS_OF = m.records_of
