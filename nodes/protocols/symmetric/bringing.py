"""Bringing another server's journal to where ours is: at the end of a view, and a joiner's before it may be in one."""

from __future__ import annotations

from nodes.config import MILLISECOND
from nodes.protocols.symmetric.messages import Settle, Settled
from nodes.protocols.symmetric.replica import Replica
from nodes.wire.calls import Question, Reply
from nodes.wire.messages import Mark

ASK_NS = 100 * MILLISECOND
TRIES = 4
SETTLE_OCTETS = 1 << 20
"""Of groups in one message."""


async def ask(replica: Replica, peer: str, question: Question) -> Reply | None:
    """Asks again a few times: one message that is lost does not cost a member its place."""
    for _ in range(TRIES):
        reply = await replica.calls.ask(peer, question, ASK_NS)
        if reply is not None:
            return reply
    return None


async def bring(
    replica: Replica, attempt: int, name: str, tails: list[Mark], goal: Mark, final: bool
) -> bool:
    """Sends a server, whose journal ends like `tails`, what it lacks up to the goal; whether it has it now."""
    log = replica.log
    common = log.agrees_up_to(tails)
    mark = None if common is None else log.mark_at(min(common, goal.sn))
    while mark is not None:
        groups = log.octets(mark.sn + 1, goal.sn, SETTLE_OCTETS)
        reply = await ask(replica, name, Settle(0, attempt, mark, groups, goal, final))
        if not isinstance(reply, Settled) or not reply.matched or reply.promised > attempt:
            return False
        if reply.mark == goal:
            return True
        mark = log.mark_at(mark.sn + len(groups)) if groups else None
    return False
