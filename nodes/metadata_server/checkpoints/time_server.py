"""The time server of one checkpoint (CFS §4.3, Algorithm 3; safety rule 13).

The paper floods messages from neighbour to neighbour (CLMark). Here two rounds of questions to all groups replace the flood: the second
begins when all groups have answered the first. A group answers them in `GroupBarrier.take_part`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from nodes.config import MILLISECOND, SECOND
from nodes.metadata_server.checkpoints import messages as m
from nodes.metadata_server.checkpoints.barrier import GroupBarrier
from nodes.metadata_server.checkpoints.ledger import (
    COMPLETE,
    VOID,
    Barrier,
    Checkpoint,
    CheckpointLedger,
    EpochRead,
    LedgerRefused,
)
from nodes.metadata_server.replica import GroupReplica
from nodes.slots import GroupLog
from nodes.trace.checkpoints import CheckpointOutcome
from nodes.wire.messages import Question, Reply
from nodes.world import ConnectionLoss, CoordinationError

T = TypeVar("T")
PAPER = "CFS §4.3, Alg. 3"
ROUND_NS = 500 * MILLISECOND
"""A question without an answer is repeated after this time."""
PHASE_NS = 3 * SECOND
"""Time in which all groups must drain, and again in which all must write."""
READ_AGAIN_NS = 50 * MILLISECOND


def average(times_ns: list[int]) -> int:
    """Line 16: the unified time stamp, in nanoseconds since 1970."""
    return sum(times_ns) // len(times_ns)


class GroupSilent(Exception):
    """A group did not answer in time, or answered in a later epoch: the checkpoint is void."""


class TimeServer:
    """Marks one checkpoint, within the tenure of one active."""

    def __init__(self, replica: GroupReplica[GroupLog], epoch: int, own: GroupBarrier):
        self._replica = replica
        self._epoch = epoch
        self._own = own
        self._ledger: CheckpointLedger = replica.ledger
        self._at_once = replica.config.cluster.holes.one_phase_barrier

    async def mark(self, name: str) -> None:
        """Algorithm 3 by its lines, from PENDING to the outcome. Raises LedgerRefused or CoordinationError when no marking is known to have begun."""
        groups = await self._ledger.groups()  # 1 to 6
        pending = await self._begin(name, groups)
        self._step("begin", name, f"time server of {len(groups)} groups")
        stamp_ns, barriers = 0, dict[str, Barrier]()
        try:
            stamp_ns = await self._unify_times(name, groups)  # 7 to 16
            await self._stop_service(name, groups)  # 18, 32
            barriers = await self._write_flags(name, stamp_ns, groups)  # 17, 19 to 27, 33
            self._step("flags", name, f"{len(barriers)} groups have written their flags")
            outcome = await self._ledger.complete(pending, stamp_ns, barriers, groups) or VOID
            if outcome == COMPLETE:
                self._step("complete", name, "the coordination service has recorded it", outcome)
        except (GroupSilent, CoordinationError):
            outcome = await self._until_known(self._ledger.void, name)
        for seen in groups.values():
            if seen.active != self._replica.name:
                self._replica.world.network.send(seen.active, m.CheckpointDecided(name))
        self._own.on_message(self._replica.name, m.CheckpointDecided(name))
        marks = {group: barrier.mark.sn for group, barrier in barriers.items()} if outcome == COMPLETE else {}
        self._replica.world.trace.emit(CheckpointOutcome(name, outcome, stamp_ns, marks))
        self._step("decided", name, "reports it to all groups", outcome)

    async def _begin(self, name: str, groups: dict[str, EpochRead]) -> Checkpoint:
        """Begins the marking. One that may have begun unknown to all is void: as long as it is pending, no other command is taken."""
        try:
            return await self._ledger.begin(name, groups)
        except ConnectionLoss:
            await self._until_known(self._ledger.void_begun, name)
            raise

    async def _unify_times(self, name: str, groups: dict[str, EpochRead]) -> int:
        times = await self._all(groups, lambda: m.TimeQuestion(0), self._report_time)
        stamp_ns = average([reported.wall_ns for reported in times.values()])
        self._step("time", name, f"the average of {len(times)} system times is {stamp_ns}")
        return stamp_ns

    async def _stop_service(self, name: str, groups: dict[str, EpochRead]) -> None:
        """Drains all groups before any writes its flag. With the hole open, each does both at once."""
        if self._at_once:
            return
        drained = await self._all(groups, lambda: m.Drain(0, name), self._own.drain)
        if any(drained[group].epoch != groups[group].epoch for group in groups):
            raise GroupSilent

    async def _write_flags(
        self, name: str, stamp_ns: int, groups: dict[str, EpochRead]
    ) -> dict[str, Barrier]:
        written = await self._all(
            groups, lambda: m.WriteBarrier(0, name, stamp_ns, self._at_once), self._own.write
        )
        return {group: Barrier(each.mark, each.digest, each.next_block) for group, each in written.items()}

    async def _until_known(self, void: Callable[[str], Awaitable[T]], name: str) -> T:
        """Retries until the outcome is known."""
        while True:
            try:
                return await void(name)
            except CoordinationError:
                await self._replica.world.clock.sleep(READ_AGAIN_NS)

    async def _report_time(self, question: m.TimeQuestion) -> m.TimeReply:
        return m.TimeReply(0, self._replica.world.clock.wall_ns())

    async def _all(
        self,
        groups: dict[str, EpochRead],
        question: Callable[[], Any],
        own: Callable[[Any], Awaitable[Any]],
    ) -> dict[str, Any]:
        """The replies of all groups. Raises GroupSilent when one is missing after `PHASE_NS`."""
        answers = await asyncio.gather(*(self._one(seen, question, own) for seen in groups.values()))
        if any(answer is None for answer in answers):
            raise GroupSilent
        return dict(zip(groups, answers, strict=True))

    async def _one(
        self, seen: EpochRead, question: Callable[[], Question], own: Callable[[Any], Awaitable[Any]]
    ) -> Reply | None:
        if seen.active == self._replica.name:
            return await own(question())  # type: ignore[no-any-return]
        clock = self._replica.world.clock
        deadline_ns = clock.monotonic_ns() + PHASE_NS
        reply = None
        while reply is None and (left_ns := deadline_ns - clock.monotonic_ns()) > 0:
            reply = await self._replica.calls.ask(seen.active, question(), min(ROUND_NS, left_ns))
        return reply

    def _step(self, step: str, name: str, detail: str, outcome: str = "") -> None:
        self._replica.step("checkpoint", step, PAPER, detail, self._epoch, checkpoint=name, outcome=outcome)


async def as_time_server(server: TimeServer, name: str) -> str:
    """Reason why no marking began, in one line; empty when the checkpoint is decided."""
    try:
        await server.mark(name)
    except LedgerRefused as refused:
        return str(refused)
    except CoordinationError as error:
        return f"the coordination service did not answer: {type(error).__name__}; ask again"
    return ""
