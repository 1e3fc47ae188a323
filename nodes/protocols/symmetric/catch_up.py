"""Catch-up of another server's journal with this one's: at the end of a view, and for a joiner before it is in a view."""

from __future__ import annotations

from nodes.config import MILLISECOND
from nodes.protocols.symmetric.messages import Flushed, JoinView, Settle, Settled
from nodes.protocols.symmetric.replica import SymmetricReplica
from nodes.wire.messages import Mark, Question, Reply

ASK_NS = 100 * MILLISECOND
TRIES = 4
SETTLE_BYTES = 1 << 20
"""Most bytes of groups in one message."""


async def ask(replica: SymmetricReplica, peer: str, question: Question) -> Reply | None:
    """Asks up to four times, so that one lost message does not cost a member its place."""
    for _ in range(TRIES):
        reply = await replica.calls.ask(peer, question, ASK_NS)
        if reply is not None:
            return reply
    return None


async def bring(
    replica: SymmetricReplica, attempt: int, name: str, had: Flushed | JoinView, goal: Mark, final: bool
) -> bool:
    """Sends a server the groups up to the goal that its journal lacked by this report. Returns whether that journal has reached the goal: a later
    life of the server may answer from another disk."""
    any_disk = replica.config.cluster.mutations.settled_by_other_disk
    log = replica.log
    common = log.agrees_up_to(had.tails)
    mark = None if common is None else log.mark_at(min(common, goal.sn))
    while mark is not None:
        groups = log.encoded(mark.sn + 1, goal.sn, SETTLE_BYTES)
        reply = await ask(replica, name, Settle(0, attempt, mark, groups, goal, final))
        if not isinstance(reply, Settled) or not reply.matched or reply.promised > attempt:
            return False
        if reply.disk != had.disk.instance and not any_disk:
            return False
        if reply.mark == goal:
            return True
        mark = log.mark_at(mark.sn + len(groups)) if groups else None
    return False


class Closer:
    """The first member of a view sends the groups that all members hold to joiners that are far behind, one joiner at a time."""

    def __init__(self, replica: SymmetricReplica):
        self._replica = replica
        self._busy = False

    def begin(self, name: str, joining: dict[str, JoinView], view: int) -> None:
        if not self._busy:
            goal = self._replica.log.mark_at(self._replica.applied_sn)
            assert goal is not None
            self._busy = True
            self._replica.world.scope.spawn(self._bring(name, joining[name], view, goal), "joining")

    async def _bring(self, name: str, join: JoinView, view: int, goal: Mark) -> None:
        await bring(self._replica, view, name, join, goal, False)
        self._busy = False
