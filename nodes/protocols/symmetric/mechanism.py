"""Symmetric active/active (SAA §6, Fig. 4): one server with its message handlers and its background tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import asdict

from nodes.blocks.keeper import BlockKeeper
from nodes.config import ServerConfig, group_of
from nodes.metadata.namespace import Namespace
from nodes.metadata.pages import Crossed, Log, counters_of, page_of
from nodes.metadata_server.tenure import Choice
from nodes.protocols.symmetric import messages as m
from nodes.protocols.symmetric.member import Member
from nodes.protocols.symmetric.membership import Membership
from nodes.protocols.symmetric.replica import Replica, open_replica
from nodes.protocols.symmetric.requests import Requests, is_write
from nodes.replicas.anew import start_anew_if_damaged
from nodes.replicas.log import decode_group, named_fields
from nodes.trace.events import Warned
from nodes.wire.messages import AskView, CheckOperation, Message, Request, ViewCopy
from nodes.world import World


class Answered:
    """A member as its block keeper sees it. Other members may have answered durable groups, and clients may have written their blocks."""

    def __init__(self, replica: Replica):
        self._replica = replica

    @property
    def namespace(self) -> Namespace:
        return self._replica.namespace

    @property
    def commit_sn(self) -> int:
        return self._replica.applied_sn

    @property
    def applied_sn(self) -> int:
        return self._replica.execution.durable_sn


class Symmetric:
    """One metadata server of a symmetric group."""

    def __init__(self, replica: Replica):
        self._world = world = replica.world
        self._replica = replica
        self._requests = Requests(replica)
        self._membership = Membership(replica, self._requests)
        self._blocks = BlockKeeper(
            world,
            replica.group,
            replica.config.cluster.data,
            Answered(self._replica),
            self._commands_data_nodes,
            behind=lambda: self._replica.behind,
        )
        self._handlers: dict[type[Message], Callable[[str, Any], None]] = self._table()

    async def keep_identity(self) -> None:
        """Makes the identity of the disk and the groups read from it durable. Raises OSError."""
        await self._replica.common.identity.keep()

    def start(self) -> None:
        world = self._world
        world.network.receive(self.on_message)
        world.scope.spawn(self._sync(), "journal")
        world.scope.spawn(self._tick(), "ticks")
        world.scope.spawn(self._membership.follow(), "views")
        world.scope.spawn(self._blocks.run(), "block map")
        world.coordination.on_state(self._membership.on_state)
        world.scope.at_end(self._membership.say_goodbye)
        self._answer_questions()

    def _answer_questions(self) -> None:
        """Answers questions over the channel that faults do not affect."""
        answer = getattr(self._world, "answer", None)
        if answer is not None:
            answer("group", lambda question: self._report_group(int(question["sn"])))
            answer("tree", lambda question: page_of(self._replica.namespace, question))
            answer("counters", lambda question: {"counters": self._counters(), "pipeline": self._pipeline()})
            answer("standing", lambda question: self._report_standing())
            answer("force", lambda question: self._membership.force())
            answer("change_view", lambda question: {"asked": self._membership.ask_for_change()})

    def _report_standing(self) -> dict[str, Any]:
        membership = self._membership
        sn = self._replica.log.last.sn
        return {"serves": membership.serves(), "epoch": membership.view_number, "sn": sn}

    def _counters(self) -> dict[str, int] | None:
        """The counters of the namespace; None while this server is outside the view."""
        if self._membership.member is None:
            return None
        return asdict(counters_of(self._replica.namespace, Crossed(), Log()))

    def _pipeline(self) -> dict[str, int]:
        active, idle = self._requests.queues()
        return {"active": active, "idle": idle, **asdict(self._replica.execution.under_way())}

    def _report_group(self, sn: int) -> dict[str, Any]:
        for data in self._replica.log.encoded(sn, sn):
            return {"group": named_fields(decode_group(data))}
        return {"group": None}

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

    def _commands_data_nodes(self) -> tuple[int, bool]:
        """View number and readiness of the member that commands data nodes: the first of the view, while it may answer reads."""
        member = self._membership.member
        if member is None or member.own or not member.may_read:
            return 0, False
        return member.view.number, not self._replica.behind

    # --- messages -----------------------------------------------------------------------------------------------------

    def _table(self) -> dict[type[Message], Callable[[str, Any], None]]:
        calls, membership, settling = self._replica.calls, self._membership, self._membership.settling
        return {
            m.Broadcast: self._to_member(Member.on_broadcast),
            m.Held: self._to_member(Member.on_held),
            m.Missing: self._to_member(Member.on_missing),
            m.Alive: self._on_alive,
            m.Leaving: membership.on_leaving,
            m.JoinView: membership.addresses.of_the_group(membership.on_join),
            m.Welcome: membership.addresses.of_the_group(membership.on_welcome),
            m.Installed: membership.on_installed,
            m.Flush: membership.addresses.of_the_group(settling.on_flush),
            m.Fetch: membership.addresses.of_the_group(settling.on_fetch),
            m.Settle: membership.addresses.of_the_group(settling.on_settle),
            m.Flushed: calls.on_reply,
            m.Fetched: calls.on_reply,
            m.Settled: calls.on_reply,
            Request: self._on_request,
            CheckOperation: self._on_check,
            AskView: self._on_ask_view,
            **self._blocks.table(),
        }

    def on_message(self, peer: str, message: Message) -> None:
        """Hands every message to its handler. An unknown type is reported as a warning and never ends the server."""
        handler = self._handlers.get(type(message))
        if handler is None:
            reported = f"{peer} sent a {type(message).__name__}, which a symmetric member does not take"
            self._world.trace.emit(Warned(reported))
            return
        handler(peer, message)

    def _to_member(self, step: Callable[[Member, str, Any], None]) -> Callable[[str, Any], None]:
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

    def _on_request(self, peer: str, message: Request) -> None:
        member = self._membership.member
        if member is None:
            self._requests.refuse(peer, message.number, self._membership.hint())
        elif is_write(message):
            self._requests.on_write(peer, message)
            member.wants_turn()
        else:
            self._requests.on_read(peer, message)
            member.answer_reads()

    def _on_check(self, peer: str, message: CheckOperation) -> None:
        if self._membership.member is None:
            self._requests.refuse(peer, message.number, self._membership.hint())
        else:
            self._requests.on_check(peer, message)

    def _on_ask_view(self, peer: str, message: AskView) -> None:
        membership = self._membership
        copy = ViewCopy(membership.view_number, membership.hint(), dict(membership.addresses.known))
        self._world.network.send(peer, copy)


def start(world: World, config: ServerConfig, choice: Choice) -> None:
    """Starts a server. Raises UnknownFormat, UnknownJournal, UnknownSeal, OSError of damaged files on disk.

    A server whose journal is damaged before its end begins with an empty one. Its new disk counts in no view before it has caught up with the others.
    """

    def begin() -> None:
        replica = open_replica(world, config, group_of(config.cluster, config.group), choice)
        world.scope.spawn(_begin_life(Symmetric(replica)), "start")

    start_anew_if_damaged(world, begin)


async def _begin_life(server: Symmetric) -> None:
    """The identity of the disk is durable before the server sends any message. Raises OSError."""
    await server.keep_identity()
    server.start()


REPLICATION = {"symmetric": start}
MESSAGES = COUNTED = m.MESSAGES
