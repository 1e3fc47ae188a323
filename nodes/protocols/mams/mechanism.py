"""MAMS: the roles of one server and the changes between them (CFS §3.3, Fig. 2; §4.2).

A server with a session has a place in the view and three watchers: on its own place, on the active (the epoch's node) and on the lock. After
each notification, one loop reads the view again and takes the step that follows from it: follow, register, or draw for the lock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.config import MILLISECOND, ServerConfig, group_of
from nodes.families import family_named
from nodes.ignored_messages import Ignoring
from nodes.metadata_server.checkpoints.rollback import Incarnations
from nodes.metadata_server.dispatch import Handlers
from nodes.metadata_server.quarantine import quarantine
from nodes.metadata_server.replica import Replica, open_replica
from nodes.metadata_server.server import MetadataServer
from nodes.metadata_server.tenure import ChosenMechanisms
from nodes.protocols.mams import messages as m
from nodes.protocols.mams.handover import HandoverOutcome, Succession, reported
from nodes.protocols.mams.pool_node import EPOCH_FILE, PoolJournal
from nodes.protocols.mams.pool_reader import read_from_pool
from nodes.protocols.mams.rules import RULES, MamsRules
from nodes.protocols.mams.ssp import Ssp
from nodes.protocols.mams.stream import MamsStream
from nodes.protocols.mams.two_phase import TwoPhase
from nodes.protocols.mams.upgrade import Elected
from nodes.replicas import messages as leases
from nodes.replicas.election import Election, await_members
from nodes.replicas.log import NOTHING
from nodes.replicas.session import ReplicaSession
from nodes.replicas.silence import SilenceWatch
from nodes.replicas.view import ACTIVE, JUNIOR, STANDBY, ServerPlace
from nodes.replicas.view_watcher import ViewWatcher
from nodes.scope import Scope, Tenure
from nodes.storage.journal_file import CorruptJournal, UnknownJournal
from nodes.storage.sealed_file import SealBroken, UnknownSeal
from nodes.trace import events
from nodes.wire.messages import Mark
from nodes.world import World

REGISTER_NS = 500 * MILLISECOND
Step = Callable[[str, Any], None]


class Mams:
    """One server in the replication protocol of its group."""

    def __init__(
        self,
        server: MetadataServer,
        replica: Replica,
        choice: ChosenMechanisms,
        sync: type[Ssp],
        rules: MamsRules,
    ):
        self._server = server
        self._world = server.world
        self._group = server.group
        self._replica = replica
        pool = self._pool = PoolJournal(replica, sync.acknowledged, self, rules.election)
        self._choice = choice
        self._ignoring = Ignoring(server.world)
        self._sync = sync
        self._rules = rules
        following = self._following = ViewWatcher(replica)
        self.session: ReplicaSession[Elected] = ReplicaSession(
            replica, following, self, server.snapshot_writer.stop
        )
        cluster = server.config.cluster
        self._draw_wait_ns = cluster.timing.draw_wait_ms * MILLISECOND
        self._election = Election(
            server.world, server.replica.view, self._draw_wait_ns, winner=rules.election.winner
        )
        self._by_number_alone = cluster.holes.election_ignores_sn
        """The draw of the paper: the random number alone decides, and the winner trusts its own journal."""
        self._reading: Scope | None = None
        self._succession = Succession(replica, following)
        self._silence = SilenceWatch(replica, following, pool.granter)
        self._incarnations = Incarnations(
            replica, pool.promise, following.wake, server.stop_reading, server.blocks.ask_all
        )
        to_leader = self.session.to_leader
        self.session.questions["hand_over"] = self._hand_over
        self.handlers: Handlers = {
            **pool.handlers,
            **{kind: self._of_writer(pool.handlers[kind]) for kind in m.OF_WRITER},
            m.Groups: server.replica.calls.on_reply,
            m.Renew: self._of_writer(self._on_renew),
            m.Stale: self._on_stale,
            leases.AskGrant: self._of_writer(self._on_heartbeat),
            leases.AskSilence: pool.granter.on_ask,
            leases.Silent: self._silence.on_silent,
            leases.Granted: to_leader(Elected.on_message),
            m.HandOver: self._on_hand_over,
            m.HandOverReply: server.replica.calls.on_reply,
            **dict.fromkeys((*m.TO_WRITER, m.Promise, m.Renewed), to_leader(Elected.on_message)),
            m.Register: to_leader(Elected.on_message, answers=False),
        }

    @property
    def epoch(self) -> int:
        return self._pool.promised

    @property
    def rests(self) -> bool:
        return self._reading is None or not self._reading.busy

    def forget_session(self) -> None:
        self._incarnations.watch.forget()
        self._election.forget_session()

    def begin(self) -> None:
        self._world.scope.spawn(self._pool.run(), "pool node")
        if self._server.config.cluster.detection == "members":
            self._world.scope.spawn(self._silence.run(), "silence of the active")

    def stop_reading(self) -> None:
        if self._reading is not None:
            self._reading.close()
            self._reading = None

    # --- messages -------------------------------------------------------------------------------------------------

    def _of_writer(self, step: Step) -> Step:
        """A step for messages that change the journal: of each epoch only the server that the view names may send them."""

        def deliver(peer: str, message: Any) -> None:
            following = self._following
            if following.is_written_by_other(message.epoch, peer):
                self._ignoring.report(peer, message, f"{following.active} writes epoch {message.epoch}")
            else:
                step(peer, message)

        return deliver

    def _on_renew(self, peer: str, message: m.Renew) -> None:
        session = self.session
        if message.epoch < self._pool.promised or session.leader is not None or session.scope is None:
            return
        self._server.stop_reading()
        self._reading = session.scope.child("renewing")
        self._reading.spawn(read_from_pool(self._replica, self._pool, peer, message), "renewing")

    def _on_heartbeat(self, peer: str, message: leases.AskGrant) -> None:
        """Grants no lease to a server whose lock was seen to be gone."""
        following = self._following
        if following.epoch < message.epoch or following.holder == peer:
            self._pool.on_heartbeat(peer, message)

    def _on_stale(self, peer: str, message: m.Stale) -> None:
        self.on_promised(message.promised)

    def _on_hand_over(self, peer: str, message: m.HandOver) -> None:
        session = self.session
        free = session.leader is None and session.scope is not None and self.rests
        self._succession.on_ask(peer, message, free and message.epoch == self._pool.promised)

    async def _hand_over(self, question: dict[str, Any]) -> dict[str, str]:
        """A person's order to hand the active role over, to `server` if it is given."""
        leader = self.session.leader
        if leader is None or not leader.serving:
            return reported(HandoverOutcome("", f"{self._world.name} is not the active"))
        return reported(await leader.handovers.order(str(question.get("server", ""))))

    def on_promised(self, epoch: int) -> None:
        active = self.session.leader
        if active is not None and active.on_begun(epoch):
            self._following.wake()

    def on_own_durable(self, mark: Mark) -> None:
        active = self.session.leader
        if active is not None:
            active.on_own_durable(mark)

    # --- the view --------------------------------------------------------------------------------------------------

    async def enter(self) -> None:
        replica = self._replica
        await replica.view.prepare(self._group.members, self._world.network.address)
        configuration, _ = await replica.view.configuration()
        if configuration.disks.get(replica.name) != replica.identity.id.instance:
            await self._promise_again()
        await replica.ledger.prepare()
        if self._pool.deaf:
            await self._pool.promise_view()
        await self._incarnations.keep_up()
        await self._following.take_place(JUNIOR, "has entered the view")

    async def _promise_again(self) -> None:
        """Promises the epoch of the view, because a replaced disk may have promised it.

        The view stores every epoch before a server promises it.
        """
        node, _ = await self._replica.view.epoch()
        await self._pool.promise(node.epoch)

    async def look_at_view(self) -> None:
        """Reads the view once and takes the step that follows from it."""
        following, name = self._following, self._world.name
        seen = await following.look(self._incarnations.keep_up)
        if seen.owner == name:
            await self._replica.view.drop_stale_lock(seen.session)
        elif seen.place is None and not seen.owner:
            await self._await_turn()
        elif seen.place is None and following.active == name:
            await following.changed(REGISTER_NS)
        elif seen.place is None or self._is_of_former_life(seen.place, seen.owner):
            await self._rejoin()
        elif not seen.owner:
            await self._compete(seen.place)
        else:
            self._follow(seen.place)
            await following.changed(self._look_again_ns(seen.place))

    def _look_again_ns(self, place: ServerPlace) -> int:
        """Time until the next look if no watch notifies the server, in ns.

        A junior registers repeatedly until the active renews it. Other servers look once per heartbeat.
        """
        if place.state == JUNIOR or self._reading is not None:
            return REGISTER_NS
        return self._replica.config.cluster.timing.heartbeat_ms * MILLISECOND

    async def _await_turn(self) -> None:
        """A server that lost its place together with its lock stays out of the election for a while."""
        await self._following.changed(5 * self._draw_wait_ns)
        if not (await self._replica.view.lock_owner())[0]:
            await self._rejoin()

    def _is_of_former_life(self, place: ServerPlace, owner: str) -> bool:
        """Whether the place is of a life of this server that has ended: one that led, or was in step with another disk."""
        if place.state == STANDBY:
            return place.disk not in (0, self._replica.identity.id.instance)
        return place.state == ACTIVE and not owner

    async def _rejoin(self) -> None:
        await self._following.take_place(JUNIOR, "has entered the view again")

    def _follow(self, place: ServerPlace) -> None:
        """The view determines the role: a standby receives journals, a junior registers with the active."""
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

    async def _compete(self, place: ServerPlace) -> None:
        replica, following = self._replica, self._following
        if replica.unfit is not None:
            await following.changed(REGISTER_NS)
            return
        if following.epoch == 0:
            await await_members(self._world, replica.view, self._group.members)
        self._step("draw", "the lock is free")
        last = NOTHING if self._by_number_alone else replica.log.last
        ordered = replica.forcing.stands or self._succession.stands(place)
        if not await self._election.run(last, ordered):
            if place.state == JUNIOR:
                # It would register, and with that end the flush to it after its promise.
                await self._world.clock.sleep(self._draw_wait_ns)
            else:
                await following.changed(self._draw_wait_ns)
            return
        self._step("lock", f"{self._world.name} holds the lock")
        self._server.stop_reading()
        await self.session.lead(self._begin)

    def _begin(self, tenure: Tenure, over: Callable[[], None]) -> Elected:
        return Elected(
            self._replica,
            self._pool,
            self._choice,
            self._sync,
            tenure,
            over,
            self._by_number_alone,
            self._rules,
        )

    def _step(self, step: str, detail: str) -> None:
        self._replica.step("election", step, "CFS §4.2.1, Alg. 2", detail, self._following.epoch)


JOURNAL_SYNC: dict[str, type[Ssp]] = {"ssp": Ssp, "two_phase": TwoPhase, "backupnode": MamsStream}
"""Mechanisms of the slot `journal_sync` by name. Each decides when a journal group is safe."""


def start(world: World, config: ServerConfig, choice: ChosenMechanisms, rules: MamsRules = RULES) -> None:
    """Starts a metadata server in this world. Raises UnknownFormat, UnknownJournal, UnknownSeal, OSError of the files on the disk.

    A server whose disk cannot be read quarantines the content and begins with an empty disk. It belongs to no quorum until it is renewed.
    """

    sync = JOURNAL_SYNC[family_named(config.cluster.protocol).journal_sync]

    def begin() -> None:
        replica = open_replica(world, config, group_of(config.cluster, config.group), choice.image_store)
        server: MetadataServer = MetadataServer(
            world, config, replica, lambda server: Mams(server, replica, choice, sync, rules)
        )
        server.start()

    try:
        begin()
    except (UnknownJournal, UnknownSeal):
        raise
    except CorruptJournal as corrupt:
        world.trace.emit(events.JournalCorrupt(corrupt.file, corrupt.offset, corrupt.sn, corrupt.reason))
        world.scope.spawn(begin_unfit(world, begin, str(corrupt)), "quarantine")
    except SealBroken as broken:
        world.scope.spawn(begin_unfit(world, begin, str(broken)), "quarantine")


async def begin_unfit(world: World, begin: Callable[[], None], reason: str) -> None:
    """Quarantines the content of the disk and starts the server with an empty one. Raises OSError."""
    unfit = await quarantine(world.disk, reason, [EPOCH_FILE])
    reported = f"{unfit.reason}; everything is moved to {unfit.directory}, and {world.name} does not count before it is renewed"
    world.trace.emit(events.Warned(reported))
    begin()


REPLICATION = {"mams": start}
MESSAGES = COUNTED = m.MESSAGES
