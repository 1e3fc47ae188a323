"""Catch-up of another server's journal with this one's: at the end of a view, and for a joiner before it is in a view."""

from __future__ import annotations

from nodes.config import MILLISECOND
from nodes.protocols.symmetric.messages import Flushed, JoinView, Settle, Settled
from nodes.protocols.symmetric.replica import SymmetricReplica
from nodes.wire.messages import Mark, Question, Reply

ASK_NS = 100 * MILLISECOND
TRIES = 4
STEP_NS = TRIES * ASK_NS
"""Time that one silent server costs a step of an attempt, however short the leases are."""
SETTLE_BYTES = 1 << 20
"""Most bytes of groups in one message."""
CLOSER_STEPS = 4
"""Number of steps without progress of a joiner after which the next member sends it groups."""


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
    """A member sends the groups that all members hold to joiners that are far behind, one joiner at a time. Each member waits for those before it,
    which may have lost the coordination service and know of no joiner."""

    def __init__(self, replica: SymmetricReplica, step_ns: int):
        self._replica = replica
        self._step_ns = step_ns
        self._busy = False
        self._name = ""
        """The joiner that was to catch up last."""
        self._reached_sn = 0
        """Its last group then, or the last one sent by this member. Only what is beyond comes from others."""
        self._since_ns = 0
        """Time at which it was first there."""

    def begin(self, name: str, join: JoinView, view: int, turn: int) -> None:
        now_ns, last_sn = self._replica.world.clock.monotonic_ns(), join.tails[-1].sn
        if name != self._name or last_sn > self._reached_sn:
            self._name, self._reached_sn, self._since_ns = name, last_sn, now_ns
        if not self._busy and now_ns - self._since_ns >= turn * CLOSER_STEPS * self._step_ns:
            goal = self._replica.log.mark_at(self._replica.applied_sn)
            assert goal is not None
            self._busy, self._reached_sn = True, goal.sn
            self._replica.world.scope.spawn(self._bring(name, join, view, goal), "joining")

    async def _bring(self, name: str, join: JoinView, view: int, goal: Mark) -> None:
        await bring(self._replica, view, name, join, goal, False)
        self._busy = False
