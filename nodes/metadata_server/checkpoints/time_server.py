"""The time server of one checkpoint (CFS §4.3, Algorithm 3; safety rule 13).

It averages the system times of all actives, lets every group drain, then lets every group write its barrier, and decides. The paper's flood from
neighbour to neighbour has become two rounds of questions: the second begins when the first has been answered by all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from nodes.config import MILLISECOND, SECOND
from nodes.metadata_server.checkpoints import messages as m
from nodes.metadata_server.checkpoints.barrier import GroupBarrier
from nodes.metadata_server.checkpoints.ledger import (
    COMPLETE,
    VOID,
    Barrier,
    Checkpoint,
    Ledger,
    Refused,
    Seen,
)
from nodes.metadata_server.replica import GroupReplica
from nodes.slots import GroupLog
from nodes.trace.checkpoints import CheckpointOutcome
from nodes.wire.calls import Question, Reply
from nodes.world import CoordinationError

PAPER = "CFS §4.3, Alg. 3"
ROUND_NS = 500 * MILLISECOND
"""After so long without an answer a question is asked again."""
PHASE_NS = 3 * SECOND
"""How long all groups may take to drain, and again to write."""
READ_AGAIN_NS = 50 * MILLISECOND


def average(times_ns: list[int]) -> int:
    """Line 16: the unified time stamp, in nanoseconds since 1970."""
    return sum(times_ns) // len(times_ns)


class TimeServer:
    """Marks one checkpoint, within the tenure of one active."""

    def __init__(self, replica: GroupReplica[GroupLog], epoch: int, own: GroupBarrier):
        self._replica = replica
        self._epoch = epoch
        self._own = own
        self._ledger: Ledger = replica.ledger

    async def mark(self, name: str) -> None:
        """From PENDING to the outcome. Raises Refused, CoordinationError: then nothing is known to have begun."""
        groups = await self._ledger.groups()
        pending = await self._ledger.begin(name, groups)
        self._step("begin", f"{name}: time server of {len(groups)} groups")
        try:
            outcome, stamp_ns, barriers = await self._barriers(pending, groups)
        except CoordinationError:
            outcome, stamp_ns, barriers = "", 0, {}
        if not outcome:
            outcome = await self._void(name)
        for seen in groups.values():
            if seen.active != self._replica.name:
                self._replica.world.network.send(seen.active, m.CheckpointDecided(name))
        self._own.on_message(self._replica.name, m.CheckpointDecided(name))
        marks = {group: barrier.mark.sn for group, barrier in barriers.items()} if outcome == COMPLETE else {}
        self._replica.world.trace.emit(CheckpointOutcome(name, outcome, stamp_ns, marks))
        self._step("decided", f"{name} is {outcome}")

    async def _void(self, name: str) -> str:
        """Asks until the outcome is known."""
        while True:
            try:
                return await self._ledger.void(name)
            except CoordinationError:
                await self._replica.world.clock.sleep(READ_AGAIN_NS)

    async def _barriers(
        self, pending: Checkpoint, groups: dict[str, Seen]
    ) -> tuple[str, int, dict[str, Barrier]]:
        """(outcome, stamp, barriers); no outcome when some group did not answer in time."""
        name = pending.name
        times = await self._all(groups, lambda: m.TellTime(0), self._tell_time)
        if times is None:
            return "", 0, {}
        stamp_ns = average([told.wall_ns for told in times.values()])
        self._step("time", f"{name}: the average of {len(times)} system times is {stamp_ns}")
        at_once = self._replica.config.cluster.holes.one_phase_barrier
        if not at_once:
            drained = await self._all(groups, lambda: m.Drain(0, name), self._own.drain)
            if drained is None or any(drained[group].epoch != groups[group].epoch for group in groups):
                return "", stamp_ns, {}
        written = await self._all(groups, lambda: m.WriteBarrier(0, name, stamp_ns, at_once), self._own.write)
        if written is None:
            return "", stamp_ns, {}
        barriers = {
            group: Barrier(each.mark, each.digest, each.next_block) for group, each in written.items()
        }
        outcome = await self._ledger.complete(pending, stamp_ns, barriers, groups)
        return outcome or VOID, stamp_ns, barriers

    async def _tell_time(self, question: m.TellTime) -> m.TimeTold:
        return m.TimeTold(0, self._replica.world.clock.wall_ns())

    async def _all(
        self,
        groups: dict[str, Seen],
        question: Callable[[], Any],
        own: Callable[[Any], Awaitable[Any]],
    ) -> dict[str, Any] | None:
        """Every group's answer; None when one is missing after `PHASE_NS`."""
        answers = await asyncio.gather(*(self._one(seen, question, own) for seen in groups.values()))
        if any(answer is None for answer in answers):
            return None
        return dict(zip(groups, answers, strict=True))

    async def _one(
        self, seen: Seen, question: Callable[[], Question], own: Callable[[Any], Awaitable[Any]]
    ) -> Reply | None:
        if seen.active == self._replica.name:
            return await own(question())  # type: ignore[no-any-return]
        clock = self._replica.world.clock
        deadline_ns = clock.monotonic_ns() + PHASE_NS
        reply = None
        while reply is None and (left_ns := deadline_ns - clock.monotonic_ns()) > 0:
            reply = await self._replica.calls.ask(seen.active, question(), min(ROUND_NS, left_ns))
        return reply

    def _step(self, step: str, detail: str) -> None:
        self._replica.step("checkpoint", step, PAPER, detail, self._epoch)


async def as_time_server(server: TimeServer, name: str) -> str:
    """Why nothing was begun, in one line; empty when the checkpoint is decided."""
    try:
        await server.mark(name)
    except Refused as refused:
        return str(refused)
    except CoordinationError as error:
        return f"the coordination service did not answer: {type(error).__name__}; ask again"
    return ""
