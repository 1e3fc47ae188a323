"""A question to every member of every group before a recovery: can it roll back to the checkpoint? A recovery that has begun cannot be undone
(safety rule 14)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from nodes.config import MILLISECOND, SECOND
from nodes.metadata_server.checkpoints import messages as m
from nodes.metadata_server.checkpoints.ledger import Checkpoint, LedgerRefused
from nodes.metadata_server.replica import GroupReplica
from nodes.replicas.view import Configuration
from nodes.slots import GroupLog
from nodes.wire.messages import Mark

PATIENCE_NS = 9 * SECOND
"""Timeout of the question. A server reads its image before it answers; the requester of a recovery is answered before a client gives up."""
ASK_NS = 1_500 * MILLISECOND
READ_NS = 4 * SECOND
"""Time for a server that still reads the journal up to the barrier."""
LOOK_NS = 20 * MILLISECOND
LISTED = 4
"""Servers that the refusal names."""


class Reaching:
    """This server's own answer, and the question to all other servers."""

    def __init__(self, replica: GroupReplica[GroupLog]):
        self._replica = replica
        self._looking: dict[Mark, asyncio.Task[str]] = {}
        """Checks under way. A repeated question waits for the same answer."""

    # --- own answer ------------------------------------------------------------------------------------------------

    def on_ask(self, peer: str, message: m.AskReach) -> None:
        self._replica.world.scope.spawn(self._reply(peer, message), "reach")

    async def _reply(self, peer: str, message: m.AskReach) -> None:
        lacks = await self.lacks(message.barrier)
        self._replica.world.network.send(peer, m.Reach(message.call, lacks))

    async def lacks(self, barrier: Mark) -> str:
        """Reason why this server cannot roll back to the barrier; empty when it can. Raises OSError."""
        task = self._looking.get(barrier)
        if task is None:
            task = self._replica.world.scope.spawn(self._look(barrier), "reach")
            self._looking[barrier] = task
            task.add_done_callback(lambda done: self._looking.pop(barrier, None))
        return await asyncio.shield(task)

    async def _look(self, barrier: Mark) -> str:
        replica, log, clock = self._replica, self._replica.log, self._replica.world.clock
        if replica.unfit is not None:
            return "does not count before it is renewed"
        deadline_ns = clock.monotonic_ns() + READ_NS
        while log.last.sn < barrier.sn and clock.monotonic_ns() < deadline_ns:
            await clock.sleep(LOOK_NS)
        if not log.holds(barrier):
            return f"has the journal from sn {log.base.sn + 1} to {log.last.sn}"
        if await replica.history.leads_to(barrier.sn):
            return ""
        return f"has no whole image at or below sn {barrier.sn}"

    # --- all members -----------------------------------------------------------------------------------------------

    async def require(self, goal: Checkpoint, members: dict[str, Configuration]) -> None:
        """Raises LedgerRefused, with the missing state, unless a write quorum of every group can roll back; CoordinationError."""
        cluster = self._replica.config.cluster
        if cluster.mutations.checkpoint_copies_thin_out or cluster.holes.checkpoint_unpinned:
            return
        polls = [
            self._poll(group, goal, goal.barriers[group].mark, configuration)
            for group, configuration in members.items()
        ]
        for refused in await asyncio.gather(*polls):
            if refused:
                raise LedgerRefused(refused)

    async def _poll(self, group: str, goal: Checkpoint, barrier: Mark, configuration: Configuration) -> str:
        """Reason why a group cannot roll back; empty as soon as a write quorum can, even if the other members are dead."""
        missing: dict[str, str] = {}
        able: list[str] = []
        needed = configuration.write_quorum

        async def hear(member: str) -> None:
            lacks = await self._ask(member, barrier, lambda: len(able) >= needed)
            if lacks:
                missing[member] = lacks
            else:
                able.append(member)

        await asyncio.gather(*(hear(member) for member in configuration.members))
        if len(able) >= needed:
            return ""
        lacking = [each for each in configuration.members if each in missing]
        reported = ", ".join(f"{each} {missing[each]}" for each in lacking[:LISTED])
        return (
            f"group {group} can go back to {goal.name} on {len(able)} of {len(configuration.members)} servers, "
            f"{needed} are needed: {reported}"
        )

    async def _ask(self, member: str, barrier: Mark, enough: Callable[[], bool]) -> str:
        replica, clock = self._replica, self._replica.world.clock
        if member == replica.name:
            return await self.lacks(barrier)
        replica.world.network.know(member, await replica.view.address(member))
        deadline_ns = clock.monotonic_ns() + PATIENCE_NS
        while not enough() and (left_ns := deadline_ns - clock.monotonic_ns()) > 0:
            reply = await replica.calls.ask(member, m.AskReach(0, barrier), min(ASK_NS, left_ns))
            if isinstance(reply, m.Reach):
                return reply.lacks
        return "does not answer"
