"""MAMS: the roles of one server and its way between them (CFS §3.3, Fig. 2; §4.2).

A server with a session has a place in the view and three watchers: on its own place, on the active (the epoch's node) and on the lock. Whatever
they tell, one loop looks at the view again and does what it asks for: follow, register, or draw for the lock.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from nodes.blocks.keeper import BlockKeeper
from nodes.config import MILLISECOND, ServerConfig, group_of
from nodes.protocols.mams import messages as m
from nodes.protocols.mams.active import Active
from nodes.protocols.mams.checkpoints import messages as marking
from nodes.protocols.mams.checkpoints.commands import Commands
from nodes.protocols.mams.checkpoints.going_back import Incarnations
from nodes.protocols.mams.imaging import Photographer
from nodes.protocols.mams.questions import pool_orders
from nodes.protocols.mams.reading import read_from_pool
from nodes.protocols.mams.replica import Choice, Replica, open_replica
from nodes.replicas.election import Election, await_members
from nodes.replicas.loading import loader
from nodes.replicas.log import NOTHING
from nodes.replicas.questions import answer_questions
from nodes.replicas.view import ACTIVE, JUNIOR, Place, Watch
from nodes.scope import Scope, Tenure
from nodes.storage.journal_file import JournalCorrupt
from nodes.trace import events
from nodes.trace.events import RoleChanged, Warned
from nodes.wire.messages import (
    AskView,
    CheckOperation,
    CrossGroupMessage,
    Message,
    Refused,
    Request,
    ViewCopy,
)
from nodes.world import CoordinationError, World

RETRY_NS = 100 * MILLISECOND
REGISTER_NS = 500 * MILLISECOND


class Mams:
    """One metadata server of a replica group."""

    def __init__(self, world: World, config: ServerConfig, choice: Choice):
        self._world = world
        self._group = group_of(config.cluster, config.group)
        self._replica: Replica = open_replica(world, config, self._group, choice)
        self._look = asyncio.Event()
        self._watches = [Watch(self._look.set) for _ in range(3)]
        timing = config.cluster.timing
        self._election = Election(world, self._replica.view, timing.draw_wait_ms * MILLISECOND)
        self._by_number_alone = config.cluster.holes.election_ignores_sn
        """The paper's draw: the winner's journal counts as the whole truth."""
        self._session: Scope | None = None
        self._active: Active | None = None
        self._role = ""
        self._known_epoch = 0
        self._known_active = ""
        self._addresses: dict[str, str] = {}
        self._reading: Scope | None = None
        self._imaging = Photographer(self._replica)
        self._commands = Commands(
            self._replica, lambda name: self._active.begin_marking(name) if self._active else None
        )
        replica = self._replica
        self._blocks = BlockKeeper(
            world, self._group, config.cluster.data, replica.state, self._commands_data_nodes,
            lambda: replica.pins.blocks_below,
        )  # fmt: skip
        self._incarnations = Incarnations(replica, self._look.set, self._stop_reading, self._blocks.ask_all)
        self._handlers = self._table()
        self._replica.pool.on_promised = self._on_promised

    def start(self) -> None:
        world = self._world
        world.network.receive(self.on_message)
        world.scope.spawn(self._replica.pool.run(), "pool node")
        world.scope.spawn(self._replica.images.run(), "images")
        world.scope.spawn(self._blocks.run(), "block map")
        world.coordination.on_state(self.on_state)
        self.on_state(world.coordination.state)
        load = loader(world, lambda: self._active.answering if self._active else None)
        orders = pool_orders(lambda: self._active.imaging if self._active else None)
        questions = {
            "counters": self._tell_counters,
            "load_journal": load,
            **orders,
            **self._commands.steps(),
        }
        answer_questions(self._replica, questions)

    def _tell_counters(self, question: dict[str, Any]) -> dict[str, Any]:
        """Only the active counts; from all others null."""
        return {"counters": None if self._active is None else self._active.counters()}

    # --- messages -------------------------------------------------------------------------------------------------

    def _table(self) -> dict[type[Message], Callable[[str, Any], None]]:
        return {
            **self._replica.pool.handlers,
            m.Groups: self._replica.calls.on_reply,
            m.TakeImage: self._on_take_image,
            m.ImageTaken: self._to_active(Active.on_image_taken),
            m.Prune: self._on_prune,
            m.Renew: self._on_renew,
            m.Stale: self._on_stale,
            **dict.fromkeys(m.TO_WRITER, self._to_active(Active.on_journal)),
            m.Promise: self._to_active(Active.on_promise),
            m.Register: self._to_active(Active.on_register),
            m.Renewed: self._to_active(Active.on_renewed),
            **self._commands.handlers,
            **dict.fromkeys(marking.TO_ACTIVE, self._to_active(Active.on_marking)),
            Request: self._on_call,
            CheckOperation: self._on_call,
            AskView: self._on_ask_view,
            **self._replica.images.handlers,
            **self._blocks.table(),
        }

    def _commands_data_nodes(self) -> tuple[int, bool]:
        """Only the active does, for as long as it may answer."""
        active = self._active
        if active is None or not active.serving or not active.lease.holds:
            return 0, False
        return active.epoch, active.quiet

    def _to_active(self, step: Callable[[Active, str, Any], None]) -> Callable[[str, Any], None]:
        def deliver(peer: str, message: Any) -> None:
            if self._active is not None:
                step(self._active, peer, message)

        return deliver

    def on_message(self, peer: str, message: Message) -> None:
        """Every message goes straight to its step; one that no table knows is an event, never a crash."""
        handler = self._handlers.get(type(message))
        if handler is None and isinstance(message, CrossGroupMessage):
            if self._active is not None:
                self._active.on_cross_group(peer, message)
            return
        if handler is None:
            self._world.trace.emit(
                Warned(f"{peer} sent a {type(message).__name__}, which a metadata server does not take")
            )
            return
        handler(peer, message)

    def _on_call(self, peer: str, message: Request | CheckOperation) -> None:
        if self._active is None:
            self._refuse(peer, message.number)
        elif isinstance(message, Request):
            self._active.on_request(peer, message)
        else:
            self._active.on_check(peer, message)

    def _refuse(self, peer: str, number: int) -> None:
        active = self._known_active if self._known_active != self._world.name else ""
        self._world.network.send(peer, Refused(number, self._known_epoch, "not active", active))

    def _on_ask_view(self, peer: str, message: AskView) -> None:
        self._world.network.send(peer, ViewCopy(self._known_epoch, self._known_active, dict(self._addresses)))

    def _on_take_image(self, peer: str, message: m.TakeImage) -> None:
        stale = message.epoch != self._replica.pool.promised
        reads = self._reading is not None and self._reading.busy
        free = not (stale or reads or self._active is not None)
        self._imaging.on_order(peer, message, self._session if free else None)

    def _on_prune(self, peer: str, message: m.Prune) -> None:
        if message.epoch == self._replica.pool.promised and self._reading is None:
            self._replica.prune(message.sn)

    def _on_renew(self, peer: str, message: m.Renew) -> None:
        if message.epoch < self._replica.pool.promised or self._active is not None or self._session is None:
            return
        self._stop_reading()
        self._reading = self._session.child("renewing")
        self._reading.spawn(read_from_pool(self._replica, peer, message), "renewing")

    def _stop_reading(self) -> None:
        """No renewing and no image, so that the journal and the namespace are left alone."""
        if self._reading is not None:
            self._reading.close()
            self._reading = None
        self._imaging.stop()

    def _on_stale(self, peer: str, message: m.Stale) -> None:
        self._on_promised(message.promised)

    def _on_promised(self, epoch: int) -> None:
        """A later epoch has begun: an active of an earlier one serves no more."""
        if self._active is not None and 0 < self._active.epoch < epoch:
            self._active.stand_down(f"epoch {epoch} has begun")
            self._look.set()

    # --- session --------------------------------------------------------------------------------------------------

    def on_state(self, state: str) -> None:
        """The coordination session: suspended stops answers, lost ends whatever it held."""
        if state == "connected":
            for watch in (*self._watches, self._incarnations.watch):
                watch.forget()
            self._election.forget_session()
            if self._session is None or not self._session.open:
                self._session = self._world.scope.child("session")
                self._session.spawn(self._membership(), "membership")
            self._look.set()
        elif state == "suspended":
            if self._active is not None:
                self._active.lease.suspend()
        elif self._session is not None:
            self._lose_session()

    def _lose_session(self) -> None:
        assert self._session is not None
        if self._active is not None:
            self._active.stand_down("the coordination session is lost")
        self._imaging.stop()
        self._session.close()
        self._session = None
        self._believe("none", "the coordination session is lost")

    def _believe(self, role: str, reason: str) -> None:
        if role != self._role:
            self._role = role
            last = self._replica.log.last.sn
            self._world.trace.emit(RoleChanged(self._group.name, role, self._known_epoch, last, reason))

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
                self._world.trace.emit(Warned(f"the view could not be read: {type(error).__name__}"))
                await self._world.clock.sleep(RETRY_NS)

    async def _enter(self) -> None:
        replica = self._replica
        await replica.view.prepare(self._group.members, self._world.network.address)
        await replica.ledger.prepare()
        await self._incarnations.keep_up()
        await replica.view.take_place(Place(JUNIOR, replica.log.last.epoch, replica.log.last.sn))
        self._believe(JUNIOR, "has entered the view")

    async def _look_at_view(self) -> None:
        """One look: what the three watchers point at, and what follows from it."""
        view = self._replica.view
        self._look.clear()
        await self._incarnations.keep_up()
        own, active, lock = self._watches
        node, _ = await view.epoch(active)
        owner, session = await view.lock_owner(lock)
        place = await view.place(self._world.name, own)
        await self._know(node.epoch, node.active)
        if owner == self._world.name:
            await view.drop_stale_lock(session)
        elif not owner and place is None:
            await self._await_turn()
        elif not owner and place is not None and place[0].state == ACTIVE:
            await self._rejoin()
        elif not owner:
            await self._compete()
        elif place is None and node.active == self._world.name:
            await self._wait_for_change(REGISTER_NS)
        elif place is None:
            await self._rejoin()
        else:
            self._follow(place[0])
            await self._wait_for_change(REGISTER_NS)

    async def _await_turn(self) -> None:
        """A server that lost its place with its lock leaves the election to the others for a while."""
        await self._wait_for_change(5 * self._replica.config.cluster.timing.draw_wait_ms * MILLISECOND)
        if not (await self._replica.view.lock_owner())[0]:
            await self._rejoin()

    async def _rejoin(self) -> None:
        last = self._replica.log.last
        await self._replica.view.take_place(Place(JUNIOR, last.epoch, last.sn))
        self._believe(JUNIOR, "has entered the view again")

    async def _know(self, epoch: int, active: str) -> None:
        if (epoch, active) == (self._known_epoch, self._known_active):
            return
        self._known_epoch, self._known_active = epoch, active
        view = self._replica.view
        for server in await view.known_servers():
            if server != self._world.name:
                self._addresses[server] = await view.address(server)
                self._world.network.know(server, self._addresses[server])

    def _follow(self, place: Place) -> None:
        """The view says what we are: a standby receives, a junior offers itself to the active."""
        if place.state != ACTIVE:
            self._believe(place.state, f"the view says {place.state}")
        if (
            place.state == JUNIOR
            and self._reading is None
            and self._known_active not in ("", self._world.name)
        ):
            replica = self._replica
            register = m.Register(
                self._known_epoch, replica.state.commit_sn, replica.log.tails(), replica.origin.incarnation
            )
            self._world.network.send(self._known_active, register)
        elif self._reading is not None and not self._reading.busy:
            self._reading = None
            self._look.set()

    async def _wait_for_change(self, longest_ns: int) -> None:
        timer = self._world.clock.call_later(longest_ns, self._look.set)
        await self._look.wait()
        timer.cancel()

    # --- lock -----------------------------------------------------------------------------------------------------

    async def _compete(self) -> None:
        replica = self._replica
        if self._known_epoch == 0:
            await await_members(self._world, self._replica.view, self._group.members)
        replica.step("election", "draw", "CFS §4.2.1, Alg. 2", "nobody holds the lock", self._known_epoch)
        if not await self._election.run(NOTHING if self._by_number_alone else replica.log.last):
            await self._wait_for_change(replica.config.cluster.timing.draw_wait_ms * MILLISECOND)
            return
        replica.step(
            "election", "lock", "CFS §4.2.1, Alg. 2", f"{self._world.name} holds the lock", self._known_epoch
        )
        await self._lead()

    async def _lead(self) -> None:
        """Upgrade and service, until the tenure ends for any reason."""
        assert self._session is not None
        self._stop_reading()
        ended = asyncio.Event()

        def over() -> None:
            self._active = None
            ended.set()

        tenure = Tenure("active", self._known_epoch + 1, self._session)
        active = self._active = Active(self._replica, tenure, over, self._by_number_alone)
        self._role = ""
        tenure.spawn(active.run(), "upgrade and service")
        watcher = tenure.child("lock watch")
        watcher.spawn(self._guard_lock(active), "lock watch")
        await ended.wait()
        self._role = "none"
        if active.sits_out:
            await self._world.clock.sleep(self._world.coordination.session_timeout_ns)

    async def _guard_lock(self, active: Active) -> None:
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
                active.stand_down("the lock is lost")
            elif active.epoch and node.epoch > active.epoch:
                active.stand_down(f"epoch {node.epoch} has begun")
            elif place is None:
                active.stand_down("the view has no place for this server any more")
            elif active.serving and place[0].state != ACTIVE:
                active.stand_down(f"the view says {place[0].state}")
            await self._look.wait()


def start(world: World, config: ServerConfig, choice: Choice) -> None:
    """Starts a metadata server in this world. Raises JournalCorrupt, UnknownFormat, OSError of what lies on the disk."""
    try:
        server = Mams(world, config, choice)
    except JournalCorrupt as corrupt:
        world.trace.emit(events.JournalCorrupt(corrupt.file, corrupt.offset, corrupt.sn, corrupt.reason))
        raise
    server.start()
