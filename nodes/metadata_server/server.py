"""The metadata server: the behaviour of one server of a group that is the same in every family. The agreement decides how the group agrees.

The agreement is the slot `replication` (one folder per family). It decides what a server does when it reads the view, and which server leads.
This server gives it a session, a view to follow and a replica, and does everything else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from nodes.blocks.keeper import BlockKeeper
from nodes.config import ServerConfig, group_of
from nodes.families import family_named
from nodes.metadata_server import messages as m
from nodes.metadata_server.checkpoints import messages as marking
from nodes.metadata_server.checkpoints.commands import CheckpointCommands
from nodes.metadata_server.dispatch import Handlers, report_unknown
from nodes.metadata_server.forced_service import force_questions
from nodes.metadata_server.image_questions import image_questions, pool_orders
from nodes.metadata_server.participation import Participation, ServingMember
from nodes.metadata_server.questions import answer_questions
from nodes.metadata_server.replica import GroupReplica
from nodes.metadata_server.snapshot_writer import SnapshotWriter
from nodes.slots import GroupLog
from nodes.wire.messages import AskView, CheckOperation, CrossGroupMessage, Message, Request
from nodes.world import World


class Agreement(Protocol):
    """Slot `replication`: one server's part in the agreement of its group."""

    handlers: Handlers

    @property
    def session(self) -> Participation[Any]:
        """Whether this server takes part in the group, and serves."""

    @property
    def epoch(self) -> int:
        """The highest epoch that this server has promised. Orders of an earlier epoch are not carried out."""

    @property
    def rests(self) -> bool:
        """Whether journal and namespace belong to this server alone: no procedure reads other servers' groups or images into them."""

    def begin(self) -> None:
        """Spawns the procedures that run as long as the server does."""

    def stop_reading(self) -> None:
        """Ends every procedure that reads into journal or namespace."""


class MetadataServer:
    """One server of a group. Its agreement is constructed last, from everything else."""

    def __init__(
        self,
        world: World,
        config: ServerConfig,
        replica: GroupReplica[GroupLog],
        make: Callable[[MetadataServer], Agreement],
    ):
        self.world = world
        self.config = config
        self.group = group_of(config.cluster, config.group)
        self.replica = replica
        self.snapshot_writer = SnapshotWriter(replica)
        self._commands = CheckpointCommands(replica, self._begin_marking)
        self.blocks = BlockKeeper(
            world, self.group, config.cluster, replica.state, self._commands_data_nodes,
            lambda: replica.pins.blocks_below, lambda: replica.void, lambda: self.session.behind,
        )  # fmt: skip
        self.agreement = make(self)
        self._handlers = self._table()

    @property
    def session(self) -> Participation[Any]:
        return self.agreement.session

    def stop_reading(self) -> None:
        """Ends renewing and imaging, so that journal and namespace do not change."""
        self.agreement.stop_reading()
        self.snapshot_writer.stop()

    def start(self) -> None:
        world, replica = self.world, self.replica
        world.network.receive(self.on_message)
        self.agreement.begin()
        world.scope.spawn(replica.images.run(), "images")
        world.scope.spawn(self.blocks.run(), "block map")
        self.session.start()
        answer_questions(replica, self._questions())

    # --- questions -------------------------------------------------------------------------------------------------

    def _questions(self) -> dict[str, Callable[[dict[str, Any]], Any]]:
        replica, session = self.replica, self.session
        return {
            **force_questions(
                replica.forcing,
                lambda: session.leader is not None and session.leader.writes,
                lambda: session.epoch,
                lambda: replica.last.sn,
                self._cannot_serve,
            ),
            "remove": lambda question: {"refused": self._remove(str(question["server"]))},
            "counters": self._report_counters,
            **pool_orders(lambda: session.leader.imaging if session.leader else None),
            **image_questions(replica.images),
            **(self._commands.steps() if family_named(self.config.cluster.protocol).checkpoints else {}),
            **session.questions,
        }

    def _cannot_serve(self) -> str:
        unfit = self.replica.unfit
        return "" if unfit is None else f"it has to be renewed first: {unfit.reason}"

    def _remove(self, server: str) -> str:
        """Reason why a server cannot leave the group; empty when it will."""
        leader = self.session.leader
        return "it does not lead" if leader is None else leader.remove(server)

    def _report_counters(self, question: dict[str, Any]) -> dict[str, Any]:
        """The leader's counters; null on every other server."""
        leader = self.session.leader
        return {"counters": None if leader is None else leader.counters()}

    def _begin_marking(self, name: str) -> Any:
        leader = self.session.leader
        return None if leader is None else leader.begin_marking(name)

    def _commands_data_nodes(self) -> tuple[int, bool]:
        leader = self.session.leader
        return (0, False) if leader is None else leader.commands

    # --- messages --------------------------------------------------------------------------------------------------

    def _table(self) -> Handlers:
        to_leader = self.session.to_leader
        return {
            m.TakeImage: self._on_take_image,
            **dict.fromkeys((m.ImageTaken, m.ImageGoesOn), to_leader(_on_image)),
            m.Prune: self._on_prune,
            **self._commands.handlers,
            **dict.fromkeys(marking.TO_ACTIVE, to_leader(_on_marking)),
            Request: self._on_call,
            CheckOperation: self._on_call,
            AskView: self.session.on_ask_view,
            **self.replica.images.handlers,
            **self.blocks.table(),
            **self.agreement.handlers,
        }

    def on_message(self, peer: str, message: Message) -> None:
        """Messages between groups go to the mechanism of the slot `cross_group`, which alone knows their kinds."""
        handler = self._handlers.get(type(message))
        if handler is not None:
            handler(peer, message)
        elif isinstance(message, CrossGroupMessage):
            if self.session.leader is not None:
                self.session.leader.on_cross_group(peer, message)
        else:
            report_unknown(self.world, peer, message)

    def _on_call(self, peer: str, message: Request | CheckOperation) -> None:
        leader = self.session.leader
        if leader is None or not leader.admits:
            self.session.refuse(peer, message.number)
        else:
            leader.on_call(peer, message)

    def _on_take_image(self, peer: str, message: m.TakeImage) -> None:
        ours = message.epoch == self.agreement.epoch
        leader = self.session.leader
        free = ours and self.agreement.rests and (leader is None or not leader.ahead)
        self.snapshot_writer.on_order(peer, message, self.session.scope if free else None)

    def _on_prune(self, peer: str, message: m.Prune) -> None:
        if message.epoch == self.agreement.epoch and self.agreement.rests:
            self.replica.prune(message.sn)


def _on_image(leader: ServingMember, peer: str, message: m.ImageTaken | m.ImageGoesOn) -> None:
    leader.on_image(peer, message)


def _on_marking(leader: ServingMember, peer: str, message: Message) -> None:
    leader.on_marking(peer, message)
