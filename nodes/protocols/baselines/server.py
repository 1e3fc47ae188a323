"""A metadata server whose group shares a journal on nodes of its own: one active writes it, the standbys read it (CFS §2.2, §5.4).

Whoever takes the lock in the coordination service becomes active, as Hadoop's failover controllers have it: there is no draw, and no junior.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from nodes.blocks.keeper import BlockKeeper
from nodes.config import MILLISECOND, ServerConfig, group_of
from nodes.protocols.baselines.leading import Leading
from nodes.protocols.baselines.local import NotNext
from nodes.protocols.baselines.replica import open_replica
from nodes.protocols.baselines.shared_journal import MakeSharedJournal
from nodes.replicas.anew import start_anew_if_damaged
from nodes.replicas.following import Following
from nodes.replicas.handing import Handlers, hand, hand_call
from nodes.replicas.loading import loader
from nodes.replicas.questions import answer_questions
from nodes.replicas.session import Session
from nodes.replicas.view import ACTIVE, INCARNATION, STANDBY
from nodes.scope import Scope, Tenure
from nodes.trace.events import Warned
from nodes.wire.messages import AskView, CheckOperation, Message, Request
from nodes.world import CoordinationError, World, ensure

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
            config.cluster,
            replica.view,
            replica.local,
            config.cluster.timing.ack_timeout_ms * MILLISECOND,
        )
        self._following = Following(replica)
        self._session: Session[Leading] = Session(
            replica, self._following, self._enter, self._look_at_view, []
        )
        self._tailing: Scope | None = None
        self._blocks = BlockKeeper(
            world, self._group, config.cluster.data, replica.state, self._commands_data_nodes
        )
        self._handlers: Handlers = {
            **self._journal.handlers,
            **self._blocks.table(),
            Request: self._on_call,
            CheckOperation: self._on_call,
            AskView: self._following.on_ask_view,
        }

    def start(self) -> None:
        world, replica = self._world, self._replica
        world.network.receive(self.on_message)
        world.scope.spawn(replica.local.run(), "own journal")
        world.scope.spawn(self._blocks.run(), "block map")
        self._follow_journal()
        session = self._session
        session.start()
        load = loader(world, lambda: session.leader.answering if session.leader else None)
        answer_questions(replica, {"counters": self._tell_counters, "load_journal": load})

    def _tell_counters(self, question: dict[str, Any]) -> dict[str, Any]:
        """Only the active counts; from all others null."""
        leading = self._session.leader
        return {"counters": None if leading is None else leading.counters()}

    def _commands_data_nodes(self) -> tuple[int, bool]:
        """Only the active does, for as long as it may answer."""
        leading = self._session.leader
        if leading is None or not leading.serving or not leading.lease.holds:
            return 0, False
        return leading.epoch, leading.quiet

    # --- messages ----------------------------------------------------------------------------------------------

    def on_message(self, peer: str, message: Message) -> None:
        hand(self._world, self._handlers, peer, message)

    def _on_call(self, peer: str, message: Request | CheckOperation) -> None:
        leading = self._session.leader
        hand_call(leading.answering if leading else None, self._following, peer, message)

    # --- the view ----------------------------------------------------------------------------------------------

    async def _enter(self) -> None:
        await self._replica.view.prepare(self._group.members, self._world.network.address)
        await ensure(self._world.coordination, INCARNATION)
        await self._following.take_place(STANDBY, "has entered the view")

    async def _look_at_view(self) -> None:
        """One look: what the three watchers point at, and what follows from it."""
        view, following = self._replica.view, self._following
        seen = await following.look()
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
        if self._tailing is not None:
            self._tailing.close()

        def make(tenure: Tenure, over: Callable[[], None]) -> Leading:
            def ended() -> None:
                over()
                self._follow_journal()

            return Leading(self._replica, self._journal, tenure, ended)

        await self._session.lead(make)

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
    """Starts a metadata server in this world. Raises UnknownJournal, OSError of what lies on the disk.

    One whose own journal is damaged before its end sets it aside and reads the shared one again.
    """
    start_anew_if_damaged(world, lambda: SharedJournalServer(world, config, make_journal, tail_ns).start())
