"""Checkpoint commands that a person may send to any server (CFS §4.3): mark, list, count later operations, roll back, delete."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import msgspec

from nodes.config import MILLISECOND, SECOND
from nodes.metadata_server.checkpoints import messages as m
from nodes.metadata_server.checkpoints.history import operations_in
from nodes.metadata_server.checkpoints.ledger import (
    PENDING,
    Checkpoint,
    Incarnation,
    LedgerRefused,
    checked_name,
)
from nodes.metadata_server.checkpoints.reachability import Reaching
from nodes.metadata_server.checkpoints.states import CheckpointStates
from nodes.metadata_server.replica import GroupReplica
from nodes.replicas.lease import lock_term
from nodes.slots import GroupLog
from nodes.wire.messages import Message
from nodes.world import CoordinationError

ANSWER_NS = 12 * SECOND
"""Timeout for an answer; longer than all phases of a marking together."""
LOOK_NS = 20 * MILLISECOND
SERVES_NS = 50 * MILLISECOND
"""Time between two looks whether all groups serve again."""
COUNTED_AT_ONCE = 256

Answer = dict[str, Any]


class CheckpointCommands:
    """Command handlers. A command that cannot be carried out returns {"refused": line}."""

    def __init__(self, replica: GroupReplica[GroupLog], begin: Callable[[str], asyncio.Task[str] | None]):
        self._replica = replica
        self._reaching = Reaching(replica)
        self._states = CheckpointStates(replica)
        self._begin = begin
        """Starts this server as time server. The task returns the reason why no marking began; None when this server is not active."""

    @property
    def handlers(self) -> dict[type[Message], Callable[[str, Any], None]]:
        """Messages that any server takes, whatever its role."""
        on_reply = self._replica.calls.on_reply
        return {
            m.BeginMarking: self._on_begin_marking,
            m.TimeQuestion: self._on_report_time,
            m.AskReach: self._reaching.on_ask,
            m.Reach: on_reply,
            m.MarkingEnded: on_reply,
            m.TimeReply: on_reply,
            m.Drained: on_reply,
            m.BarrierStands: on_reply,
        }

    def _on_begin_marking(self, peer: str, message: m.BeginMarking) -> None:
        self._replica.world.scope.spawn(self._mark_for(peer, message), "time server")

    async def _mark_for(self, peer: str, message: m.BeginMarking) -> None:
        refused = await self._run(message.name)
        self._replica.world.network.send(peer, m.MarkingEnded(message.call, refused))

    def _on_report_time(self, peer: str, message: m.TimeQuestion) -> None:
        world = self._replica.world
        world.network.send(peer, m.TimeReply(message.call, world.clock.wall_ns()))

    def steps(self) -> dict[str, Callable[[Answer], Awaitable[Answer]]]:
        """The step of each command by its name."""
        commands = {
            "mark_checkpoint": self._mark,
            "checkpoints": self._list,
            "count_after": self._count_after,
            "recover": self._recover,
            "delete_checkpoint": self._delete,
            **self._states.steps(),
        }
        return {word: _refusing(command) for word, command in commands.items()}

    async def _mark(self, question: Answer) -> Answer:
        name = checked_name(str(question["name"]))
        replica = self._replica
        groups = await replica.ledger.groups()
        drawn = replica.world.rng.choice(sorted(seen.active for seen in groups.values()))
        refused = await (self._run(name) if drawn == replica.name else self._ask(drawn, name))
        if refused:
            raise LedgerRefused(refused)
        if await replica.ledger.void(name) == "":
            raise LedgerRefused(f"the time server {drawn} did not answer, and nothing was begun: ask again")
        return {"checkpoint": reported(await replica.ledger.find(name))}

    async def _ask(self, drawn: str, name: str) -> str:
        reply = await self._replica.calls.ask(drawn, m.BeginMarking(0, name), ANSWER_NS)
        return reply.refused if isinstance(reply, m.MarkingEnded) else ""

    async def _run(self, name: str) -> str:
        """Marks a checkpoint as time server. Returns the reason why no marking began; empty when the outcome is decided or the tenure ended
        before."""
        task = self._begin(name)
        if task is None:
            return f"{self._replica.name} does not serve now: ask again"
        while not task.done():
            await self._replica.world.clock.sleep(LOOK_NS)
        return "" if task.cancelled() else task.result()

    async def _list(self, question: Answer) -> Answer:
        incarnation, _ = await self._replica.ledger.incarnation()
        known = await self._replica.ledger.all()
        return {
            "checkpoints": [reported(each) for each in known if each.state != PENDING],
            "incarnation": incarnation.number,
            "recovered_to": incarnation.checkpoint,
        }

    async def _count_after(self, question: Answer) -> Answer:
        """The number of client operations in the journal after a given sn, without those that a rollback has set aside."""
        replica, sn = self._replica, max(0, int(question["sn"]))
        groups = operations = 0
        for first, last in replica.history.live(sn, replica.log.last.sn):
            for start in range(first, last + 1, COUNTED_AT_ONCE):
                found = replica.log.encoded(start, min(last, start + COUNTED_AT_ONCE - 1))
                groups += len(found)
                operations += sum(map(operations_in, found))
                await replica.world.clock.sleep(0)
        return {"groups": groups, "operations": operations}

    async def _recover(self, question: Answer) -> Answer:
        incarnation = await self._replica.ledger.recover(
            checked_name(str(question["name"])), self._reaching.require
        )
        if question.get("waits"):
            await self._await_service(incarnation)
        return {"incarnation": incarnation.number, "checkpoint": incarnation.checkpoint}

    async def _await_service(self, incarnation: Incarnation) -> None:
        """Waits until every group serves again, for at most a session: until then an active that has not read of the recovery answers under its
        lease, and what it answers is rolled back."""
        replica = self._replica
        clock = replica.world.clock
        session_ns = replica.world.coordination.session_timeout_ns
        end_ns = clock.monotonic_ns() + session_ns
        # An epoch is written before its promises are there and before earlier leases have run out.
        await clock.sleep(lock_term(session_ns, replica.config.cluster.mutations).outlived_ns)
        while clock.monotonic_ns() < end_ns:
            with suppress(CoordinationError):
                if await replica.ledger.serves(incarnation):
                    return
            await clock.sleep(SERVES_NS)

    async def _delete(self, question: Answer) -> Answer:
        name = checked_name(str(question["name"]))
        await self._replica.ledger.delete(name)
        await self._replica.pins.keep_up(self._replica.ledger)
        return {"deleted": name}


def _refusing(command: Callable[[Answer], Awaitable[Answer]]) -> Callable[[Answer], Awaitable[Answer]]:
    async def answer(question: Answer) -> Answer:
        try:
            return await command(question)
        except LedgerRefused as refused:
            return {"refused": str(refused)}
        except CoordinationError as error:
            return {"refused": f"the coordination service did not answer: {type(error).__name__}; ask again"}

    return answer


def reported(checkpoint: Checkpoint | None) -> Answer | None:
    """A checkpoint in the form shown to a person: names instead of positions."""
    return None if checkpoint is None else msgspec.to_builtins(_shown(checkpoint))


def _shown(checkpoint: Checkpoint) -> Answer:
    return {
        "name": checkpoint.name,
        "number": checkpoint.number,
        "state": checkpoint.state,
        "incarnation": checkpoint.incarnation,
        "time_server": checkpoint.time_server,
        "stamp_ns": checkpoint.stamp_ns,
        "barriers": {
            group: {"sn": barrier.mark.sn, "epoch": barrier.mark.epoch, "digest": barrier.digest}
            for group, barrier in checkpoint.barriers.items()
        },
    }
