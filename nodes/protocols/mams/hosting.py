"""One tenure as the mechanism for operations on several groups sees it (slot `cross_group`)."""

from __future__ import annotations

from collections.abc import Callable

from nodes.config import MILLISECOND
from nodes.metadata.namespace import Namespace
from nodes.metadata.operations import Result
from nodes.metadata.records import DecideRecord, Record
from nodes.protocols.mams.answering import Answering
from nodes.protocols.mams.neighbours import Neighbours
from nodes.protocols.mams.replica import Replica
from nodes.protocols.mams.writer import JournalWriter
from nodes.scope import Scope
from nodes.slots import Position
from nodes.units import OpId
from nodes.wire.messages import Message

PARKED_NS = 20 * MILLISECOND


class Host:
    """Joins the journal writer, the answering and the neighbours of one active."""

    def __init__(
        self,
        replica: Replica,
        scope: Scope,
        epoch: int,
        writer: JournalWriter,
        answering: Answering,
        neighbours: Neighbours,
    ):
        self.world = replica.world
        self.scope = scope
        self.group = replica.group.number
        self.epoch = epoch
        self.groups = sorted(group.number for group in replica.config.cluster.groups)
        self._replica = replica
        self._writer = writer
        self._answering = answering
        self._neighbours = neighbours
        self.done = 0
        """Operations of this group's that were committed in this tenure, aborted, and messages to others."""
        self.aborted = 0
        self.sent = 0

    @property
    def namespace(self) -> Namespace:
        return self._replica.state.namespace

    @property
    def draining(self) -> bool:
        return self._answering.draining

    def now_ns(self) -> int:
        return self._answering.now_ns()

    def heard(self, at_ns: int) -> None:
        self._answering.heard(at_ns)

    async def can_commit(self) -> None:
        while self._writer.parked:
            await self.world.clock.sleep(PARKED_NS)

    def record(self, record: Record, then: Callable[[], None]) -> Position:
        sn, place = self._writer.apply(record)
        if type(record) is DecideRecord:
            self._writer.after_commit(lambda: self._count(record))
        self._writer.after_commit(then)
        return Position(sn, place, record.at_ns)

    def _count(self, decided: DecideRecord) -> None:
        self.done += decided.commit
        self.aborted += not decided.commit

    def after_commit(self, step: Callable[[], None]) -> None:
        self._writer.after_commit(step)

    def send_to(self, group: int, message: Message) -> None:
        self.sent += 1
        self._neighbours.send(group, message)

    def answer(self, op_id: OpId, result: Result | None, error: str, at: Position | None = None) -> None:
        self._answering.settle(op_id, result, error, at)

    def again(self, op_id: OpId) -> None:
        self._answering.again(op_id)

    def wake(self) -> None:
        self._answering.wake()
