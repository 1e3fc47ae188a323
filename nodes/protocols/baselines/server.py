"""A metadata server whose group shares a journal on nodes of its own: one active writes it, the standbys read it (CFS §2.2, §5.4).

Whoever takes the lock in the coordination service becomes active, as Hadoop's failover controllers have it: there is no draw, and no junior.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from nodes.blocks.keeper import BlockKeeper
from nodes.config import MILLISECOND, ServerConfig, group_of
from nodes.protocols.baselines.leading import Leading
from nodes.protocols.baselines.local import NotNext
from nodes.protocols.baselines.replica import open_replica
from nodes.protocols.baselines.shared_journal import MakeSharedJournal
from nodes.replicas.loading import loader
from nodes.replicas.questions import answer_questions
from nodes.replicas.view import ACTIVE, INCARNATION, STANDBY, Place, Watch
from nodes.scope import Scope, Tenure
from nodes.storage.journal_file import JournalCorrupt
from nodes.trace import events
from nodes.trace.events import RoleChanged, Warned
from nodes.wire.messages import AskView, CheckOperation, Message, Refused, Request, ViewCopy
from nodes.world import CoordinationError, World

RETRY_NS = 100 * MILLISECOND
LOOK_NS = 500 * MILLISECOND


class SharedJournalServer:
    """One metadata server: its role and its way between the two. `tail_ns` is how long a standby waits before it reads on."""

    def __init__(self, world: World, config: ServerConfig, make_journal: MakeSharedJournal, tail_ns: int):
        self._world = world
        self._tail_ns = tail_ns
        self._group = group_of(config.cluster, config.group)
        self._replica = replica = open_replica(world, config, self._group)
        self._journal = make_journal(
            world,
            config.cluster.journal.nodes,
            replica.view,
            replica.local,
            config.cluster.timing.ack_timeout_ms * MILLISECOND,
        )
        self._look = asyncio.Event()
        self._watches = [Watch(self._look.set) for _ in range(3)]
        self._session: Scope | None = None
        self._leading: Leading | None = None
        self._tailing: Scope | None = None
        self._role = ""
        self._epoch = 0
        self._active = ""
        self._addresses: dict[str, str] = {}
        self._blocks = BlockKeeper(
            world, self._group, config.cluster.data, replica.state, self._commands_data_nodes
        )
        self._handlers: dict[type[Message], Callable[[str, Any], None]] = {
            **self._journal.handlers,
            **self._blocks.table(),
            Request: self._on_call,
            CheckOperation: self._on_call,
            AskView: self._on_ask_view,
        }

    def start(self) -> None:
        world, replica = self._world, self._replica
        world.network.receive(self.on_message)
        world.scope.spawn(replica.local.run(), "own journal")
        world.scope.spawn(self._blocks.run(), "block map")
        self._follow_journal()
        world.coordination.on_state(self.on_state)
        self.on_state(world.coordination.state)
        load = loader(world, lambda: self._leading.answering if self._leading else None)
        answer_questions(replica, {"counters": self._tell_counters, "load_journal": load})

    def _tell_counters(self, question: dict[str, Any]) -> dict[str, Any]:
        """Only the active counts; from all others null."""
        return {"counters": None if self._leading is None else self._leading.counters()}

    def _commands_data_nodes(self) -> tuple[int, bool]:
        """Only the active does, for as long as it may answer."""
        leading = self._leading
        if leading is None or not leading.serving or not leading.lease.holds:
            return 0, False
        return leading.epoch, leading.quiet

    # --- messages ----------------------------------------------------------------------------------------------

    def on_message(self, peer: str, message: Message) -> None:
        handler = self._handlers.get(type(message))
        if handler is None:
            self._world.trace.emit(
                Warned(f"{peer} sent a {type(message).__name__}, which a metadata server does not take")
            )
            return
        handler(peer, message)

    def _on_call(self, peer: str, message: Request | CheckOperation) -> None:
        if self._leading is None:
            active = self._active if self._active != self._world.name else ""
            self._world.network.send(peer, Refused(message.number, self._epoch, "not active", active))
        elif isinstance(message, Request):
            self._leading.answering.on_request(peer, message)
        else:
            self._leading.answering.on_check(peer, message)

    def _on_ask_view(self, peer: str, message: AskView) -> None:
        self._world.network.send(peer, ViewCopy(self._epoch, self._active, dict(self._addresses)))

    # --- session -----------------------------------------------------------------------------------------------

    def on_state(self, state: str) -> None:
        """The coordination session: suspended stops answers, lost ends whatever it held."""
        if state == "connected":
            for watch in self._watches:
                watch.forget()
            if self._session is None or not self._session.open:
                self._session = self._world.scope.child("session")
                self._session.spawn(self._membership(), "membership")
            self._look.set()
        elif state == "suspended":
            if self._leading is not None:
                self._leading.lease.suspend()
        elif self._session is not None:
            if self._leading is not None:
                self._leading.stand_down("the coordination session is lost")
            self._session.close()
            self._session = None
            self._believe("none", "the coordination session is lost")
            self._follow_journal()

    def _believe(self, role: str, reason: str) -> None:
        if role != self._role:
            self._role = role
            last = self._replica.log.last.sn
            self._world.trace.emit(RoleChanged(self._group.name, role, self._epoch, last, reason))

    async def _membership(self) -> None:
        """Goes on for as long as the session does."""
        entered = False
        while True:
            try:
                if not entered:
                    await self._enter()
                    entered = True
                await self._look_at_view()
            except CoordinationError as error:
                self._world.trace.emit(Warned(f"the view could not be read: {type(error).__name__}"))
                await self._world.clock.sleep(RETRY_NS)

    async def _enter(self) -> None:
        view = self._replica.view
        await view.prepare(self._group.members, self._world.network.address)
        await self._world.coordination.ensure(INCARNATION)
        await self._take_place()

    async def _take_place(self) -> None:
        last = self._replica.log.last
        await self._replica.view.take_place(Place(STANDBY, last.epoch, last.sn))
        self._believe(STANDBY, "has entered the view")

    async def _look_at_view(self) -> None:
        """One look: what the three watchers point at, and what follows from it."""
        view = self._replica.view
        self._look.clear()
        own, active, lock = self._watches
        node, _ = await view.epoch(active)
        owner, session = await view.lock_owner(lock)
        place = await view.place(self._world.name, own)
        await self._know(node.epoch, node.active)
        if owner == self._world.name:
            await view.drop_stale_lock(session)
        elif place is None or place[0].state == ACTIVE:
            await self._take_place()
        elif owner:
            self._believe(STANDBY, "somebody else holds the lock")
            await self._wait_for_change()
        elif await view.take_lock(await view.draw_round()):
            await self._lead()

    async def _know(self, epoch: int, active: str) -> None:
        if (epoch, active) == (self._epoch, self._active):
            return
        self._epoch, self._active = epoch, active
        view = self._replica.view
        for server in await view.known_servers():
            if server != self._world.name:
                self._addresses[server] = await view.address(server)
                self._world.network.know(server, self._addresses[server])

    async def _wait_for_change(self) -> None:
        timer = self._world.clock.call_later(LOOK_NS, self._look.set)
        await self._look.wait()
        timer.cancel()

    # --- active ------------------------------------------------------------------------------------------------

    async def _lead(self) -> None:
        """Takeover and service, until the tenure ends for any reason."""
        assert self._session is not None
        if self._tailing is not None:
            self._tailing.close()
        ended = asyncio.Event()

        def over() -> None:
            self._leading = None
            ended.set()

        tenure = Tenure("active", self._epoch + 1, self._session)
        leading = self._leading = Leading(self._replica, self._journal, tenure, over)
        self._role = ""
        tenure.spawn(leading.run(), "takeover and service")
        tenure.spawn(self._guard_lock(leading), "lock watch")
        await ended.wait()
        self._role = "none"
        self._follow_journal()
        await self._replica.view.drop_draw()
        if leading.sits_out:
            await self._world.clock.sleep(self._world.coordination.session_timeout_ns)

    async def _guard_lock(self, leading: Leading) -> None:
        """The active's watchers: its place, the epoch, the lock; losing any of them ends the tenure."""
        view, world = self._replica.view, self._world
        while True:
            self._look.clear()
            own, epoch, lock = self._watches
            try:
                owner, session = await view.lock_owner(lock)
                node, _ = await view.epoch(epoch)
                place = await view.place(world.name, own)
            except CoordinationError:
                await world.clock.sleep(RETRY_NS)
                continue
            if owner != world.name or session != world.coordination.session:
                leading.stand_down("the lock is lost")
            elif leading.epoch and node.epoch > leading.epoch:
                leading.stand_down(f"epoch {node.epoch} has begun")
            elif place is None:
                leading.stand_down("the view has no place for this server any more")
            await self._look.wait()

    # --- standby -----------------------------------------------------------------------------------------------

    def _follow_journal(self) -> None:
        """Reads the shared journal for as long as this server does not lead."""
        if self._tailing is not None:
            self._tailing.close()
        self._tailing = self._world.scope.child("tailing")
        self._tailing.spawn(self._tail(), "tailing")

    async def _tail(self) -> None:
        replica, warned = self._replica, ""
        await replica.local.cut(replica.state.commit_sn, "what was not known to be committed is read again")
        while True:
            try:
                groups = await self._journal.read(replica.log.last.sn + 1)
                await replica.local.take(groups)
            except CoordinationError:
                groups = []
            except (NotNext, msgspec.DecodeError) as error:
                groups = []
                if str(error) != warned:
                    warned = str(error)
                    self._world.trace.emit(Warned(warned))
            replica.state.commit(replica.log.last.sn)
            if not groups:
                await self._world.clock.sleep(self._tail_ns)


def start(world: World, config: ServerConfig, make_journal: MakeSharedJournal, tail_ns: int) -> None:
    """Starts a metadata server in this world. Raises Damaged, OSError of what lies on the disk."""
    try:
        server = SharedJournalServer(world, config, make_journal, tail_ns)
    except JournalCorrupt as corrupt:
        world.trace.emit(events.JournalCorrupt(corrupt.file, corrupt.offset, corrupt.sn, corrupt.reason))
        raise
    server.start()
