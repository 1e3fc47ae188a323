"""One tenure of a group's leader, apart from the agreement: admission, journal writer, images, other groups, checkpoints.

A family adds its takeover and the way its groups become safe: `run` in a subclass, a `JournalSync`, the `ImageTakers`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from msgspec.structs import asdict

from nodes.config import MILLISECOND
from nodes.ignored_messages import Ignoring
from nodes.metadata.pages import Crossed, counters_of
from nodes.metadata.placement import placement
from nodes.metadata.records import IncarnationRecord, PassOverRecord
from nodes.metadata_server.checkpoints.barrier import GroupBarrier
from nodes.metadata_server.checkpoints.time_server import TimeServer, as_time_server
from nodes.metadata_server.messages import ImageGoesOn, ImageTaken
from nodes.metadata_server.neighbours import Neighbours
from nodes.metadata_server.replica import GroupReplica, Replica
from nodes.metadata_server.request_handler import RequestHandler
from nodes.metadata_server.shared_steps import CommitEmitter
from nodes.metadata_server.snapshots import Imaging
from nodes.metadata_server.tenure_host import TenureHost
from nodes.metadata_server.writer import JournalWriter
from nodes.replicas.leader import Leader
from nodes.scope import Tenure
from nodes.slots import (
    CrossGroup,
    GroupHost,
    GroupLog,
    ImageTakers,
    JournalSync,
    MakeImageStore,
    RecordWriter,
)
from nodes.wake import Rounds
from nodes.wire.messages import CheckOperation, Mark, Message, Request
from nodes.world import CoordinationError

PASSED_OVER = 1 << 20
"""More numbers than a group can have given out in the groups that it lost when it was forced."""


class ChosenMechanisms(NamedTuple):
    """The mechanisms of the slots that every family has."""

    image_store: MakeImageStore
    cross_group: Callable[[GroupHost], CrossGroup]
    on_service: Callable[..., None]
    """Callback with the world and the leader whose tenure begins to serve, for measurements inside the server."""


class ServingLeader(Leader):
    """A leader from taking the lock to the end of its tenure. Parts that are None are made during the takeover."""

    def __init__(
        self,
        replica: GroupReplica[GroupLog],
        choice: ChosenMechanisms,
        tenure: Tenure,
        ended: Callable[[], None],
        own_writes: Rounds | None = None,
    ):
        super().__init__(replica, tenure, ended, own_writes)
        self._replica = replica
        self._choice = choice
        cluster = replica.config.cluster
        early = cluster.holes.reads_before_flush
        self.answering = RequestHandler(
            replica.world, replica.state, self.lease, replica.times, cluster, early, self._log_is_full
        )
        self.writer: RecordWriter | None = None
        self.imaging: Imaging | None = None
        self.host: TenureHost | None = None
        """The host of cross-group operations; made when this tenure begins to serve, in a cluster of several groups."""
        self.neighbours: Neighbours | None = None
        """None in a cluster of one group."""
        if len(cluster.groups) > 1:
            self.neighbours = Neighbours(replica.world, cluster, replica.group.name)
            tenure.spawn(self.neighbours.follow(), "the other groups")
        self._barrier: GroupBarrier | None = None
        """The part in checkpoints; made when this tenure begins to serve."""
        self._ignoring = Ignoring(replica.world)

    @property
    def ahead(self) -> bool:
        return True

    @property
    def admits(self) -> bool:
        return self.answering.backlog.admits

    @property
    def commands(self) -> tuple[int, bool]:
        """Only the leader commands data nodes, for as long as it may answer."""
        if not self.serving or not self.lease.holds:
            return 0, False
        return self.epoch, self.writer is not None and self.writer.idle

    @property
    def writes(self) -> bool:
        """Whether this leader serves requests, writes included."""
        if not self.serving or not self.lease.holds:
            return False
        return self.writer is not None and not self.writer.stalled

    def remove(self, server: str) -> str:
        """Lets a server leave in order, as soon as nothing can be lost. Returns the reason when it never can."""
        return f"the servers of {self._replica.group.name} are the configured ones"

    def counters(self) -> dict[str, int] | None:
        """Counters; None before this leader serves."""
        if not self.serving:
            return None
        assert self.imaging is not None
        crossed = self.host.crossed if self.host else Crossed()
        return asdict(counters_of(self._replica.state.namespace, crossed, self.imaging.log))

    # --- steps ----------------------------------------------------------------------------------------------------

    def on_call(self, peer: str, call: Request | CheckOperation) -> None:
        if isinstance(call, Request):
            self.answering.on_request(peer, call)
        else:
            self.answering.on_check(peer, call)

    def on_image(self, peer: str, message: ImageTaken | ImageGoesOn) -> None:
        if self.imaging is not None:
            self.imaging.on_image(peer, message)

    def on_cross_group(self, peer: str, message: Message) -> None:
        """A message of another group's active. A message that comes too early, or while nothing can be committed, is sent again.

        A message of any other peer is an event without effect.
        """
        if self.neighbours is None or not self.neighbours.speaks(peer):
            self._ignoring.report(peer, message, "not of a server of another group")
            return
        cross_group = self.answering.cross_group
        ready = self.writer is not None and not self.writer.stalled and not self.answering.still
        # Without a lease another leader may have changed what this one would report.
        if cross_group is not None and self.serving and ready and self.lease.holds:
            cross_group.on_message(peer, message)

    def on_marking(self, peer: str, message: Message) -> None:
        """A message about marking a checkpoint. A leader that does not serve takes no part, and the checkpoint will be void."""
        if self._barrier is not None:
            self._barrier.on_message(peer, message)

    def begin_marking(self, name: str) -> asyncio.Task[str] | None:
        """Begins marking as the time server; None before this leader serves."""
        if self._barrier is None:
            return None
        server = TimeServer(self._replica, self.epoch, self._barrier)
        return self._tenure.spawn(as_time_server(server, name), f"checkpoint {name}")

    # --- procedure ------------------------------------------------------------------------------------------------

    def _commits(self) -> CommitEmitter:
        group = self._replica.group
        return CommitEmitter(self._replica.world.trace, group.name, group.number, self.neighbours is not None)

    def _log_is_full(self) -> bool:
        return self.imaging is not None and self.imaging.is_full()

    def _begin_writing(self, writer: RecordWriter, takers: ImageTakers) -> None:
        """Continues the log in this epoch. Earlier groups are applied, and images are ordered from now on."""
        replica = self._replica
        self.writer = writer
        imaging = self.imaging = Imaging(replica, takers, LeaderAdmission(self.answering, writer), self.epoch)
        replica.state.apply_ahead()
        self.answering.write_to(writer, self.epoch)
        self._tenure.spawn(imaging.run(), "images")
        self._tenure.spawn(imaging.pruning.run(), "pool")
        self._tenure.spawn(self._follow_checkpoints(), "checkpoints")

    def _begin_service(self, role: str, reason: str, mark: Mark) -> None:
        """Begins to carry out requests. Open operations on several groups resume before new ones come (DCFS2 §4.4).

        Everything up to `mark` is committed.
        """
        replica = self._replica
        assert self.writer is not None
        self._serves(role, reason, mark)
        self._barrier = GroupBarrier(replica, self._tenure, self.epoch, self.writer, self.answering)
        if self.neighbours is not None:
            self._join_groups(self.neighbours, self.writer)
        self.answering.backlog.release()
        self._tenure.spawn(self.answering.end_idle_sessions(), "sessions of dead clients")
        self._choice.on_service(replica.world, self)

    def _join_groups(self, neighbours: Neighbours, writer: RecordWriter) -> None:
        replica, cluster = self._replica, self._replica.config.cluster
        host = self.host = TenureHost(replica, self._tenure, self.epoch, writer, self.answering, neighbours)
        policy = placement(
            cluster.placement, host.groups, cluster.granularity, replica.world.rng, cluster.ddg_as_printed
        )
        cross_group = self._choice.cross_group(host)
        self.answering.joins(cross_group, policy)
        cross_group.resume()

    async def _follow_checkpoints(self) -> None:
        """Releases, once per heartbeat, the state that was kept for deleted checkpoints."""
        replica = self._replica
        while True:
            await replica.world.clock.sleep(replica.config.cluster.timing.heartbeat_ms * MILLISECOND)
            try:
                await replica.pins.keep_up(replica.ledger)
            except CoordinationError:
                pass

    def _end(self) -> None:
        self._replica.state.step_back(self.writer.end() if self.writer else [])
        self.answering.refuse_all()


class LeaderAdmission:
    """`Admission` of a leader's images: requests are queued while its namespace is frozen."""

    def __init__(self, answering: RequestHandler, writer: RecordWriter):
        self._answering = answering
        self._writer = writer

    @property
    def idle(self) -> bool:
        return self._writer.idle

    @property
    def stalled(self) -> bool:
        return self._writer.stalled

    def resume(self) -> None:
        if not self._writer.stalled:
            self._answering.backlog.resume()

    def freeze(self) -> None:
        self._answering.backlog.hold()
        self._answering.still = True

    def thaw(self) -> None:
        if self._answering.still:
            self._answering.still = False
            self._answering.backlog.release()


class JournalLeader(ServingLeader):
    """The leader of a family whose log is a journal of groups."""

    _replica: Replica
    writer: JournalWriter | None
    forced = False
    """Whether a person ordered this tenure, so that groups which gave out numbers may be lost."""

    def _open_writer(self, sync: JournalSync, takers: ImageTakers) -> JournalWriter:
        replica = self._replica
        writer = JournalWriter(
            replica.world, self._commits(), self.epoch, replica.origin.incarnation,
            replica.log, replica.state, sync, self.answering.backlog.resume, replica.config.cluster.knobs.records_per_group,
        )  # fmt: skip
        self._begin_writing(writer, takers)
        return writer

    def _close_first_group(self, writer: JournalWriter) -> int:
        """The sn of the first group of this epoch, which is empty or begins a new incarnation of the cluster."""
        replica = self._replica
        if replica.log.last.incarnation < replica.origin.incarnation:
            writer.apply(IncarnationRecord(self.answering.now_ns(), replica.origin.incarnation))
        if self.forced:
            moves = replica.state.namespace.tree.moves + PASSED_OVER
            writer.apply(PassOverRecord(self.answering.now_ns(), PASSED_OVER, moves))
        writer.close_group()
        return replica.log.last.sn
