"""MAMS: the roles of one server and its way between them (CFS §3.3, Fig. 2; §4.2).

A server with a session has a place in the view and three watchers: on its own place, on the active (the epoch's node) and on the lock. Whatever
they tell, one loop looks at the view again and does what it asks for: follow, register, or draw for the lock.
"""

from __future__ import annotations

from typing import Any

from nodes.blocks.keeper import BlockKeeper
from nodes.config import MILLISECOND, ServerConfig, group_of
from nodes.protocols.mams import messages as m
from nodes.protocols.mams.active import Active
from nodes.protocols.mams.checkpoints import messages as marking
from nodes.protocols.mams.checkpoints.commands import Commands
from nodes.protocols.mams.checkpoints.going_back import Incarnations
from nodes.protocols.mams.imaging import Photographer
from nodes.protocols.mams.quarantine import quarantine
from nodes.protocols.mams.questions import image_questions, pool_orders
from nodes.protocols.mams.reading import read_from_pool
from nodes.protocols.mams.replica import Choice, Replica, open_replica
from nodes.replicas.election import Election, await_members
from nodes.replicas.following import Following
from nodes.replicas.forcing import force_questions
from nodes.replicas.handing import Handlers, hand, hand_call
from nodes.replicas.loading import loader
from nodes.replicas.log import NOTHING
from nodes.replicas.questions import answer_questions
from nodes.replicas.session import Session
from nodes.replicas.view import ACTIVE, JUNIOR, STANDBY, Place
from nodes.scope import Scope
from nodes.storage.journal_file import JournalCorrupt, UnknownJournal
from nodes.storage.sealed import SealBroken, UnknownSeal
from nodes.trace import events
from nodes.wire.messages import (
    AskView,
    CheckOperation,
    CrossGroupMessage,
    Message,
    Request,
)
from nodes.world import World

REGISTER_NS = 500 * MILLISECOND


class Mams:
    """One metadata server of a replica group."""

    def __init__(self, world: World, config: ServerConfig, choice: Choice):
        self._world = world
        self._group = group_of(config.cluster, config.group)
        self._replica: Replica = open_replica(world, config, self._group, choice)
        self._following = Following(self._replica)
        self._draw_wait_ns = config.cluster.timing.draw_wait_ms * MILLISECOND
        self._election = Election(world, self._replica.view, self._draw_wait_ns)
        self._by_number_alone = config.cluster.holes.election_ignores_sn
        """The paper's draw: the winner's journal counts as the whole truth."""
        self._reading: Scope | None = None
        self._imaging = Photographer(self._replica)
        self._commands = Commands(
            self._replica,
            lambda name: self._session.leader.begin_marking(name) if self._session.leader else None,
        )
        replica = self._replica
        self._blocks = BlockKeeper(
            world, self._group, config.cluster.data, replica.state, self._commands_data_nodes,
            lambda: replica.pins.blocks_below, lambda: replica.void,
        )  # fmt: skip
        self._incarnations = Incarnations(
            replica, self._following.wake, self._stop_reading, self._blocks.ask_all
        )
        forget = [self._incarnations.watch.forget, self._election.forget_session]
        self._session: Session[Active] = Session(
            replica, self._following, self._enter, self._look_at_view, forget
        )
        self._session.on_lost = self._imaging.stop
        self._handlers = self._table()
        self._replica.pool.on_promised = self._on_promised

    def start(self) -> None:
        world = self._world
        world.network.receive(self.on_message)
        world.scope.spawn(self._replica.pool.run(), "pool node")
        world.scope.spawn(self._replica.images.run(), "images")
        world.scope.spawn(self._blocks.run(), "block map")
        session = self._session
        session.start()
        load = loader(world, lambda: session.leader.answering if session.leader else None)
        orders = pool_orders(lambda: session.leader.imaging if session.leader else None)
        replica = self._replica
        force = force_questions(
            replica.forcing,
            self._writes,
            lambda: self._following.epoch,
            lambda: replica.last.sn,
            self._cannot_serve,
        )
        questions = {
            **force,
            "remove": lambda question: {"refused": self._remove(str(question["server"]))},
            "counters": self._tell_counters,
            "load_journal": load,
            **orders,
            **image_questions(self._replica.images),
            **self._commands.steps(),
        }
        answer_questions(self._replica, questions)

    def _cannot_serve(self) -> str:
        unfit = self._replica.unfit
        return "" if unfit is None else f"it has to be renewed first: {unfit.reason}"

    def _remove(self, server: str) -> str:
        """Why a server cannot leave the group; empty when it will."""
        active = self._session.leader
        return "it does not lead" if active is None else active.remove(server)

    def _writes(self) -> bool:
        return self._session.leader is not None and self._session.leader.writes

    def _tell_counters(self, question: dict[str, Any]) -> dict[str, Any]:
        """Only the active counts; from all others null."""
        active = self._session.leader
        return {"counters": None if active is None else active.counters()}

    # --- messages -------------------------------------------------------------------------------------------------

    def _table(self) -> Handlers:
        return {
            **self._replica.pool.handlers,
            m.Groups: self._replica.calls.on_reply,
            m.TakeImage: self._on_take_image,
            m.ImageTaken: self._session.to_leader(Active.on_image),
            m.ImageGoesOn: self._session.to_leader(Active.on_image),
            m.Prune: self._on_prune,
            m.Renew: self._on_renew,
            m.Stale: self._on_stale,
            **dict.fromkeys(m.TO_WRITER, self._session.to_leader(Active.on_journal)),
            m.Promise: self._session.to_leader(Active.on_promise),
            m.Register: self._session.to_leader(Active.on_register, answers=False),
            m.Renewed: self._session.to_leader(Active.on_renewed),
            **self._commands.handlers,
            **dict.fromkeys(marking.TO_ACTIVE, self._session.to_leader(Active.on_marking)),
            Request: self._on_call,
            CheckOperation: self._on_call,
            AskView: self._following.on_ask_view,
            **self._replica.images.handlers,
            **self._blocks.table(),
        }

    def _commands_data_nodes(self) -> tuple[int, bool]:
        """Only the active does, for as long as it may answer."""
        active = self._session.leader
        if active is None or not active.serving or not active.lease.holds:
            return 0, False
        return active.epoch, active.quiet

    def on_message(self, peer: str, message: Message) -> None:
        """What groups tell each other is for the mechanism of the slot `cross_group`, which alone knows its kinds."""
        if isinstance(message, CrossGroupMessage):
            if self._session.leader is not None:
                self._session.leader.on_cross_group(peer, message)
        else:
            hand(self._world, self._handlers, peer, message)

    def _on_call(self, peer: str, message: Request | CheckOperation) -> None:
        active = self._session.leader
        hand_call(active.answering if active else None, self._following, peer, message)

    def _on_take_image(self, peer: str, message: m.TakeImage) -> None:
        stale = message.epoch != self._replica.pool.promised
        reads = self._reading is not None and self._reading.busy
        free = not (stale or reads or self._session.leader is not None)
        self._imaging.on_order(peer, message, self._session.scope if free else None)

    def _on_prune(self, peer: str, message: m.Prune) -> None:
        if message.epoch == self._replica.pool.promised and self._reading is None:
            self._replica.prune(message.sn)

    def _on_renew(self, peer: str, message: m.Renew) -> None:
        session = self._session
        if message.epoch < self._replica.pool.promised or session.leader is not None or session.scope is None:
            return
        self._stop_reading()
        self._reading = session.scope.child("renewing")
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
        active = self._session.leader
        if active is not None and active.on_begun(epoch):
            self._following.wake()

    # --- the view --------------------------------------------------------------------------------------------------

    async def _enter(self) -> None:
        replica = self._replica
        await replica.view.prepare(self._group.members, self._world.network.address)
        configuration, _ = await replica.view.configuration()
        if configuration.disks.get(replica.name) != replica.identity.id.instance:
            await self._promise_again()
        await replica.ledger.prepare()
        if replica.pool.deaf:
            await replica.promise_view()
        await self._incarnations.keep_up()
        await self._following.take_place(JUNIOR, "has entered the view")

    async def _promise_again(self) -> None:
        """The disk in whose place this one is may have promised more; no epoch is promised before it is written."""
        node, _ = await self._replica.view.epoch()
        await self._replica.pool.promise(node.epoch)

    async def _look_at_view(self) -> None:
        """One look: what the three watchers point at, and what follows from it."""
        following, name = self._following, self._world.name
        seen = await following.look(self._incarnations.keep_up)
        if seen.owner == name:
            await self._replica.view.drop_stale_lock(seen.session)
        elif not seen.owner and seen.place is None:
            await self._await_turn()
        elif not seen.owner and seen.place is not None and seen.place.state == ACTIVE:
            await self._rejoin()
        elif not seen.owner:
            await self._compete()
        elif seen.place is None and following.active == name:
            await following.changed(REGISTER_NS)
        elif seen.place is None:
            await self._rejoin()
        else:
            self._follow(seen.place)
            await following.changed(self._look_again_ns(seen.place))

    def _look_again_ns(self, place: Place) -> int:
        """A junior offers itself until it is taken in. Watches wake whoever is in step: it looks by itself once per heartbeat."""
        if place.state == JUNIOR or self._reading is not None:
            return REGISTER_NS
        return self._replica.config.cluster.timing.heartbeat_ms * MILLISECOND

    async def _await_turn(self) -> None:
        """A server that lost its place with its lock leaves the election to the others for a while."""
        await self._following.changed(5 * self._draw_wait_ns)
        if not (await self._replica.view.lock_owner())[0]:
            await self._rejoin()

    async def _rejoin(self) -> None:
        await self._following.take_place(JUNIOR, "has entered the view again")

    def _follow(self, place: Place) -> None:
        """The view says what we are: a standby receives, a junior offers itself to the active."""
        following = self._following
        if place.state == STANDBY:
            self._replica.forcing.on_standby(place.epoch)
        if place.state != ACTIVE:
            following.believe(place.state, f"the view says {place.state}")
        if place.state == STANDBY:
            self._replica.is_in_step(place)
        if place.state == JUNIOR and self._reading is None and following.other_leads:
            replica = self._replica
            register = m.Register(
                following.epoch,
                replica.state.commit_sn,
                replica.log.tails(),
                replica.origin.incarnation,
                replica.identity.id,
            )
            self._world.network.send(following.active, register)
        elif self._reading is not None and not self._reading.busy:
            self._reading = None
            following.wake()

    # --- lock -----------------------------------------------------------------------------------------------------

    async def _compete(self) -> None:
        replica, following = self._replica, self._following
        if replica.unfit is not None:
            await following.changed(REGISTER_NS)
            return
        if following.epoch == 0:
            await await_members(self._world, replica.view, self._group.members)
        self._step("draw", "nobody holds the lock")
        last = NOTHING if self._by_number_alone else replica.log.last
        if not await self._election.run(last, replica.forcing.stands):
            await following.changed(self._draw_wait_ns)
            return
        self._step("lock", f"{self._world.name} holds the lock")
        self._stop_reading()
        await self._session.lead(lambda tenure, over: Active(replica, tenure, over, self._by_number_alone))

    def _step(self, step: str, detail: str) -> None:
        self._replica.step("election", step, "CFS §4.2.1, Alg. 2", detail, self._following.epoch)


def start(world: World, config: ServerConfig, choice: Choice) -> None:
    """Starts a metadata server in this world. Raises UnknownFormat, UnknownJournal, UnknownSeal, OSError of what lies on the disk.

    One whose disk is damaged so that nothing can be made of it begins with an empty one, and counts for nothing until it has been renewed.
    """
    try:
        Mams(world, config, choice).start()
    except (UnknownJournal, UnknownSeal):
        raise
    except JournalCorrupt as corrupt:
        world.trace.emit(events.JournalCorrupt(corrupt.file, corrupt.offset, corrupt.sn, corrupt.reason))
        world.scope.spawn(begin_unfit(world, config, choice, str(corrupt)), "quarantine")
    except SealBroken as broken:
        world.scope.spawn(begin_unfit(world, config, choice, str(broken)), "quarantine")


async def begin_unfit(world: World, config: ServerConfig, choice: Choice, reason: str) -> None:
    """Raises OSError."""
    unfit = await quarantine(world.disk, reason)
    told = f"{unfit.reason}; everything is moved to {unfit.directory}, and {world.name} does not count before it is renewed"
    world.trace.emit(events.Warned(told))
    Mams(world, config, choice).start()
