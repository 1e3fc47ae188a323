"""A metadata server whose group keeps a shared journal on separate nodes: one active writes it, the standbys read it (CFS §2.2, §5.4).

The server that takes the lock in the coordination service becomes active, as with Hadoop's failover controllers: there is no draw, and no junior.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from nodes.config import MILLISECOND, ServerConfig, group_of
from nodes.metadata_server.checkpoints.rollback import RecordedIncarnations
from nodes.metadata_server.dispatch import Handlers
from nodes.metadata_server.own_journal import NotNext, OwnJournal
from nodes.metadata_server.replica import Replica, open_replica
from nodes.metadata_server.server import MetadataServer
from nodes.metadata_server.tenure import ChosenMechanisms
from nodes.protocols.baselines.lock_tenure import Leading
from nodes.protocols.baselines.readers import begin_from_image, read_on, where_it_ended
from nodes.protocols.baselines.shared_journal import MakeSharedJournal
from nodes.replicas.fresh_start import start_anew_if_damaged
from nodes.replicas.grants import Granter
from nodes.replicas.messages import AskGrant, Granted, Silent
from nodes.replicas.session import ReplicaSession
from nodes.replicas.silence import SilenceWatch
from nodes.replicas.view import ACTIVE, STANDBY, Configuration
from nodes.replicas.view_watcher import ViewWatcher
from nodes.scope import Scope, Tenure
from nodes.trace.events import Warned
from nodes.world import CoordinationError, World

LOOK_NS = 500 * MILLISECOND


class SharedJournalServer:
    """One server's part in the agreement: its role and the change between the two roles."""

    def __init__(
        self,
        server: MetadataServer,
        replica: Replica,
        choice: ChosenMechanisms,
        make_journal: MakeSharedJournal,
        tail_ns: int,
    ):
        """`tail_ns`: pause of a standby between two reads."""
        self._server = server
        self._world = world = server.world
        self._choice = choice
        self._tail_ns = tail_ns
        self._replica = replica
        self._following = ViewWatcher(replica)
        self.session: ReplicaSession[Leading] = ReplicaSession(
            replica, self._following, self, server.snapshot_writer.stop
        )
        self._local = OwnJournal(replica)
        cluster = server.config.cluster
        patience_ns = cluster.timing.ack_timeout_ms * MILLISECOND
        self._journal = make_journal(world, cluster, replica.view, self._local, patience_ns)
        self._tailing: Scope | None = None
        self._incarnations = RecordedIncarnations(replica, self._following.wake)
        replica.history.on_rolled_back.subscribe(server.blocks.ask_all)
        nodes, granter = cluster.journal.nodes, Granter(world, cluster)
        granting = Configuration(0, nodes, len(nodes))
        self._silence = SilenceWatch(replica, self._following, granter, granting)
        self.handlers: Handlers = {
            **self._journal.handlers,
            AskGrant: lambda peer, message: granter.received(peer, message.generation),
            Silent: self._silence.on_silent,
            Granted: self.session.to_leader(Leading.on_granted),
        }

    @property
    def epoch(self) -> int:
        return self._following.epoch

    @property
    def rests(self) -> bool:
        return True

    def begin(self) -> None:
        self._world.scope.spawn(self._local.run(), "own journal")
        self._world.scope.spawn(self._replica.history.keep_set_aside(), "set aside")
        if self._server.config.cluster.detection == "members":
            self._world.scope.spawn(self._silence.run(), "silence of the active")
        self._follow_journal()

    def forget_session(self) -> None:
        self._incarnations.watch.forget()

    def stop_reading(self) -> None:
        if self._tailing is not None:
            self._tailing.close()
            self._tailing = None

    # --- the view ----------------------------------------------------------------------------------------------

    async def enter(self) -> None:
        await self._replica.view.prepare(self._server.group.members, self._world.network.address)
        await self._replica.ledger.prepare()
        await self._incarnations.keep_up()
        await self._following.take_place(STANDBY, "has entered the view")

    async def look_at_view(self) -> None:
        """One look at the view: reads the nodes of the three watchers, and acts on them."""
        view, following = self._replica.view, self._following
        seen = await following.look(self._incarnations.keep_up)
        if seen.owner == self._world.name:
            await view.drop_stale_lock(seen.session)
        elif seen.place is None or seen.place.state == ACTIVE:
            await following.take_place(STANDBY, "has entered the view")
        elif seen.owner:
            following.believe(STANDBY, "somebody else holds the lock")
            await following.changed(LOOK_NS)
        elif await view.take_lock(await view.draw_round()):
            await self._lead()

    async def _lead(self) -> None:
        self._server.stop_reading()

        def make(tenure: Tenure, over: Callable[[], None]) -> Leading:
            def ended() -> None:
                over()
                self._follow_journal()

            return Leading(self._replica, self._choice, self._journal, self._local, tenure, ended)

        await self.session.lead(make)

    # --- standby -----------------------------------------------------------------------------------------------

    def _follow_journal(self) -> None:
        """Reads the shared journal as long as this server does not lead."""
        self.stop_reading()
        self._tailing = self._world.scope.child("tailing")
        self._tailing.spawn(self._tail(), "tailing")

    async def _tail(self) -> None:
        replica, local, warned = self._replica, self._local, ""
        await local.cut(replica.state.commit_sn, "what was not known to be committed is read again")
        while True:
            try:
                came = await read_on(replica, self._journal, local)
            except CoordinationError:
                came = False
            except (NotNext, msgspec.DecodeError) as error:
                came = False
                if str(error) != warned:
                    warned = str(error)
                    self._world.trace.emit(Warned(warned))
            replica.state.commit(replica.log.last.sn)
            if replica.state.stuck_sn:
                came = await self._pass_over()
            if not came:
                await self._world.clock.sleep(self._tail_ns)

    async def _pass_over(self) -> bool:
        """Takes an image behind a rollback that this server cannot apply. False when there is none yet."""
        try:
            return await begin_from_image(self._replica, self._local, self._replica.state.stuck_sn)
        except CoordinationError:
            return False


def start(
    world: World,
    config: ServerConfig,
    choice: ChosenMechanisms,
    make_journal: MakeSharedJournal,
    tail_ns: int,
) -> None:
    """Starts a metadata server in this world. Raises UnknownFormat, UnknownJournal, OSError of the disk's content.

    A server whose own journal is damaged before its end quarantines it and reads the shared one again.
    """

    def begin() -> None:
        group = group_of(config.cluster, config.group)
        replica = open_replica(world, config, group, choice.image_store, begin=where_it_ended)
        server: MetadataServer = MetadataServer(
            world,
            config,
            replica,
            lambda server: SharedJournalServer(server, replica, choice, make_journal, tail_ns),
        )
        server.start()

    start_anew_if_damaged(world, begin)
