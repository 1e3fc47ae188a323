"""Symmetric active/active (SAA §6, Fig. 4): one server's part in the agreement of its group, with its handlers and its background tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.config import ServerConfig, group_of
from nodes.metadata_server.dispatch import Handlers
from nodes.metadata_server.server import MetadataServer
from nodes.metadata_server.tenure import ChosenMechanisms
from nodes.protocols.symmetric import messages as m
from nodes.protocols.symmetric.member import ViewMember
from nodes.protocols.symmetric.membership import Membership
from nodes.protocols.symmetric.order import MakeOrder, order_of
from nodes.protocols.symmetric.replica import SymmetricReplica, open_replica
from nodes.protocols.symmetric.requests import Requests
from nodes.protocols.symmetric.session import MemberSession
from nodes.replicas.fresh_start import start_anew_if_damaged
from nodes.world import World


class Symmetric:
    """One metadata server of a symmetric group."""

    def __init__(self, server: MetadataServer, replica: SymmetricReplica):
        self._world = replica.world
        self._replica = replica
        requests = Requests(replica)
        membership = self._membership = Membership(replica, requests, server.snapshot_writer.stop)
        self.session = MemberSession(replica, requests, membership)
        self.handlers: Handlers = self._table()

    @property
    def epoch(self) -> int:
        """The number of the view that this server is a member of; 0 outside."""
        member = self._membership.member
        return 0 if member is None else member.view.number

    @property
    def rests(self) -> bool:
        member = self._membership.member
        return member is not None and not member.wedged and not self._replica.settling.locked()

    def begin(self) -> None:
        self._world.scope.spawn(self._sync(), "journal")
        self._world.scope.spawn(self._tick(), "ticks")

    def stop_reading(self) -> None:
        self._membership.images.stop()

    # --- time and disk ------------------------------------------------------------------------------------------------

    async def _tick(self) -> None:
        while True:
            self._membership.tick()
            await self._world.clock.sleep(self._membership.lease_ns // 5)

    async def _sync(self) -> None:
        """Syncs delivered groups in one task, so that groups that arrive during a sync share the next one."""
        while True:
            await self._replica.appended.wait()
            sn = await self._replica.sync()
            if self._membership.member is not None:
                self._membership.member.on_synced(sn)

    # --- messages -----------------------------------------------------------------------------------------------------

    def _table(self) -> Handlers:
        calls, membership, settling = self._replica.calls, self._membership, self._membership.settling
        of_the_group = membership.addresses.of_the_group
        return {
            m.Broadcast: self._to_member(ViewMember.on_broadcast),
            m.Held: self._to_member(ViewMember.on_held),
            m.Missing: self._to_member(ViewMember.on_missing),
            m.Alive: self._on_alive,
            m.Leaving: membership.on_leaving,
            m.JoinView: of_the_group(membership.on_join),
            m.Welcome: of_the_group(membership.on_welcome),
            m.Installed: membership.on_installed,
            m.Flush: of_the_group(settling.on_flush),
            m.Fetch: of_the_group(settling.on_fetch),
            m.Settle: of_the_group(settling.on_settle),
            m.Flushed: calls.on_reply,
            m.Fetched: calls.on_reply,
            m.Settled: calls.on_reply,
        }

    def _to_member(self, step: Callable[[ViewMember, str, Any], None]) -> Callable[[str, Any], None]:
        def deliver(peer: str, message: Any) -> None:
            if self._membership.member is not None:
                step(self._membership.member, peer, message)
            else:
                self._replica.ignoring.report(peer, message, "this server is outside the view")

        return deliver

    def _on_alive(self, peer: str, message: m.Alive) -> None:
        member = self._membership.member
        if member is None:
            return
        number = member.view.number
        if message.view < number:
            self._replica.ignoring.report(peer, message, f"of view {message.view}; this is view {number}")
            self._world.network.send(peer, m.Installed(number))
        else:
            member.on_alive(peer, message)


def start(
    world: World, config: ServerConfig, choice: ChosenMechanisms, make_order: MakeOrder = order_of
) -> None:
    """Starts a server. Raises UnknownFormat, UnknownJournal, UnknownSeal, OSError of damaged files on disk.

    A server whose journal is damaged before its end begins with an empty one. Its new disk counts in no view before it has caught up with the others.
    """

    def begin() -> None:
        replica = open_replica(world, config, group_of(config.cluster, config.group), choice, make_order)
        server = MetadataServer(world, config, replica.common, lambda server: Symmetric(server, replica))
        world.scope.spawn(_begin_life(replica, server), "start")

    start_anew_if_damaged(world, begin)


async def _begin_life(replica: SymmetricReplica, server: MetadataServer) -> None:
    """The identity of the disk is durable before the server sends any message. Raises OSError."""
    await replica.common.identity.keep()
    server.start()


REPLICATION = {"symmetric": start}
MESSAGES = COUNTED = m.MESSAGES
