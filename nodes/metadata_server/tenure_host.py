"""One tenure as the mechanism for operations on several groups sees it (slot `cross_group`)."""

from __future__ import annotations

from collections.abc import Callable

from nodes.config import MILLISECOND
from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import Result
from nodes.metadata.pages import Crossed
from nodes.metadata.records import DecideRecord, Record
from nodes.metadata_server.neighbours import Neighbours
from nodes.metadata_server.replica import GroupReplica
from nodes.metadata_server.request_handler import RequestHandler
from nodes.scope import Scope
from nodes.slots import GroupLog, Position, RecordWriter
from nodes.units import OpId
from nodes.wire.messages import Message

STALLED_NS = 20 * MILLISECOND


class TenureHost:
    """The environment of the mechanism: the writer, the answering and the neighbours of one active."""

    def __init__(
        self,
        replica: GroupReplica[GroupLog],
        scope: Scope,
        epoch: int,
        writer: RecordWriter,
        answering: RequestHandler,
        neighbours: Neighbours,
    ):
        self.world = replica.world
        self.received = replica.times.received
        self.scope = scope
        self.group = replica.group.number
        self.epoch = epoch
        self.groups = sorted(group.number for group in replica.config.cluster.groups)
        cluster = replica.config.cluster
        self.holes = cluster.holes
        alone = all(len(group.members) == 1 for group in cluster.groups)
        self.unreplicated_paper = alone and cluster.variant == "paper"
        self._replica = replica
        self._writer = writer
        self._answering = answering
        self._neighbours = neighbours
        self._done = self._aborted = self._sent = self._records = 0
        """Counters of this tenure: operations of this group that were committed, or aborted; messages to other groups; records that were
        committed."""

    @property
    def namespace(self) -> Namespace:
        return self._replica.state.namespace

    @property
    def draining(self) -> bool:
        return self._answering.draining

    @property
    def full(self) -> bool:
        return self._answering.full()

    def now_ns(self) -> int:
        return self._answering.now_ns()

    def hold(self) -> None:
        self._answering.backlog.hold()

    def release(self) -> None:
        self._answering.backlog.release()

    async def can_commit(self) -> None:
        while self._writer.stalled or self._answering.still:
            await self.world.clock.sleep(STALLED_NS)

    def position(self) -> Position:
        return self._answering.position()

    def record(self, record: Record, then: Callable[[], None]) -> Position:
        sn, place = self._writer.apply(record)
        self._writer.after_commit(lambda: self._count(record))
        self._writer.after_commit(then)
        return Position(sn, place, record.at_ns)

    def _count(self, record: Record) -> None:
        self._records += 1
        if isinstance(record, DecideRecord):
            self._done += record.commit
            self._aborted += not record.commit

    @property
    def crossed(self) -> Crossed:
        return Crossed(self._done, self._aborted, self._sent, self._records)

    def after_commit(self, step: Callable[[], None]) -> None:
        self._writer.after_commit(step)

    def send_to(self, group: int, message: Message) -> None:
        self._sent += 1
        self._neighbours.send(group, message)

    def answer(self, op_id: OpId, result: Result | None, error: str, at: Position | None = None) -> None:
        self._answering.settle(op_id, result, error, at)

    def again(self, op_id: OpId) -> Callable[[], None]:
        return self._answering.again(op_id)

    def learn_moves(self, moves: int) -> None:
        self._answering.learn_moves(moves)

    def resolve_anew(self, op_id: OpId) -> None:
        self._answering.resolve_anew(op_id)

    def wake(self) -> None:
        self._answering.backlog.wake()
