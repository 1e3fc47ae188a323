"""Planned handover of the active role to a standby, without a failure. The papers have none; etcd's is called move-leader.

The active holds new calls, finishes those under way, and asks the successor whether its journal is equal. Then it stops answering, and releases
the lock with the record that it has stopped (safety rule 16). The successor takes the free lock without a draw, and upgrades as after any failure
(CFS §4.2.2): epochs, promises and the read quorum decide, not the handover. Until the lock is released, any doubt ends the handover, and the active
goes on. After that a successor that fails is replaced by an ordinary election.
"""

from __future__ import annotations

from asyncio import Task
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, NamedTuple

from nodes.config import MILLISECOND
from nodes.metadata_server.replica import Replica
from nodes.metadata_server.tenure import JournalLeader
from nodes.protocols.mams.messages import HandOver, HandOverReply
from nodes.replicas.view import STANDBY, ServerPlace
from nodes.replicas.view_watcher import ViewWatcher
from nodes.scope import Tenure
from nodes.wire.messages import Mark
from nodes.world import Clock, CoordinationError

LOOK_NS = 10 * MILLISECOND
ACK_TIMEOUTS = 2
"""Acknowledgement time-outs for which calls are held at most before the handover is given up."""
PAPER = "CFS §4.2.2"


class HandoverOutcome(NamedTuple):
    successor: str
    refused: str
    """Reason why the active goes on; empty when it has released the lock for the successor."""


class Handover:
    """The active's side: one attempt."""

    def __init__(self, replica: Replica, leader: JournalLeader, give_up: Callable[[str], Awaitable[None]]):
        self._replica = replica
        self._leader = leader
        self._give_up = give_up
        self._clock = replica.world.clock
        self._end_ns = 0
        self.outcome = HandoverOutcome("", "its tenure ended before")

    async def run(self, server: str) -> None:
        """Hands over to this server, or to the first standby when it is empty. `outcome` says whether the lock is released."""
        self._leader.answering.backlog.hold()
        try:
            await self._attempt(server)
        finally:
            if self._leader.serving:
                self._leader.answering.backlog.release()

    async def _attempt(self, server: str) -> None:
        timeout_ms = self._replica.config.cluster.timing.ack_timeout_ms
        self._end_ns = self._clock.monotonic_ns() + ACK_TIMEOUTS * timeout_ms * MILLISECOND
        successor, refused = await self._choose(server)
        if not refused:
            self._step("ask", f"{successor} is to take over from {self._replica.name}")
            refused = await self._in_step(successor)
        # Nothing is awaited between the last look and the end of the lease in `give_up`.
        self.outcome = HandoverOutcome(successor, refused)
        if refused:
            self._step("void", f"{self._replica.name} goes on: {refused}")
            return
        self._step("pass", f"{self._replica.name} has stopped at sn {self._replica.log.last.sn}")
        self._leader.answering.successor = successor
        await self._give_up(f"hands over to {successor}")

    async def _choose(self, server: str) -> tuple[str, str]:
        """The successor, and the reason why there is none."""
        name = self._replica.name
        try:
            places = await self._replica.view.places()
        except CoordinationError:
            return server, "the view cannot be read now"
        standbys = [each for each, place in places.items() if place.state == STANDBY and each != name]
        if server == name:
            return server, f"{name} is the active already"
        if server and server not in standbys:
            return server, f"{server} is not in step: the standbys are {', '.join(standbys) or 'none'}"
        return (server or standbys[0], "") if standbys else ("", "no standby is in step")

    async def _in_step(self, successor: str) -> str:
        """Waits until everything is committed and the successor's journal is equal. Returns the reason when that takes too long."""
        calls = self._replica.calls
        while True:
            mark, reason = self._replica.log.last, self._unfinished()
            if not reason:
                left_ns = max(LOOK_NS, self._end_ns - self._clock.monotonic_ns())
                reply = await calls.ask(successor, HandOver(0, self._leader.epoch, mark), left_ns)
                reason = reply.refused if isinstance(reply, HandOverReply) else f"{successor} does not answer"
                reason = reason or self._unfinished() or self._moved_from(mark)
            if not reason or self._clock.monotonic_ns() >= self._end_ns:
                return reason
            await self._clock.sleep(LOOK_NS)

    def _unfinished(self) -> str:
        leader, answering = self._leader, self._leader.answering
        if answering.draining:
            return "a checkpoint is being marked"
        if leader.writer is None or not leader.writes:
            return "it takes no writes now"
        return "calls are under way" if answering.shared or not leader.writer.idle else ""

    def _moved_from(self, mark: Mark) -> str:
        return "" if self._replica.log.last == mark else "the journal has grown"

    def _step(self, step: str, detail: str) -> None:
        self._replica.step("handover", step, PAPER, detail, self._leader.epoch)


class Handovers:
    """The attempts of one tenure, one at a time."""

    def __init__(
        self,
        replica: Replica,
        leader: JournalLeader,
        tenure: Tenure,
        give_up: Callable[[str], Awaitable[None]],
    ):
        self._replica = replica
        self._tenure = tenure
        self._make: Callable[[], Handover] = partial(Handover, replica, leader, give_up)
        self._task: Task[None] | None = None

    async def order(self, server: str) -> HandoverOutcome:
        """Returns when the lock is released for the successor, or the reason is known why this server goes on."""
        if self._task is not None and not self._task.done():
            return HandoverOutcome(server, "another handover is under way")
        handover = self._make()
        task = self._task = self._tenure.spawn(handover.run(server), "handover")
        while not task.done():
            await self._replica.world.clock.sleep(LOOK_NS)
        return handover.outcome


class Succession:
    """The successor's side: for one session time-out it takes a free lock of that epoch without a draw."""

    def __init__(self, replica: Replica, following: ViewWatcher):
        self._replica = replica
        self._following = following
        self._clock: Clock = replica.world.clock
        self._epoch = 0
        self._until_ns = 0

    def stands(self, place: ServerPlace) -> bool:
        """`place`: this server's in the view. A junior would take the lock again and again, and give it up each time (CFS §4.2.2 step 1)."""
        ordered = self._following.epoch == self._epoch and self._clock.monotonic_ns() < self._until_ns
        return ordered and place.state == STANDBY

    def on_ask(self, peer: str, message: HandOver, free: bool) -> None:
        """Accepts if this server is a standby of that epoch with an equal journal. `free`: neither leads nor reads other servers' groups."""
        refused = self._refused(message, free)
        if not refused:
            self._epoch = message.epoch
            session_ns = self._replica.world.coordination.session_timeout_ns
            self._until_ns = self._clock.monotonic_ns() + session_ns
        self._replica.world.network.send(peer, HandOverReply(message.call, refused))

    def _refused(self, message: HandOver, free: bool) -> str:
        following, last = self._following, self._replica.log.last
        if not free or following.role != STANDBY or following.epoch != message.epoch:
            return f"{self._replica.name} is not a standby of epoch {message.epoch}"
        if self._replica.unfit is not None:
            return f"{self._replica.name} has to be renewed first"
        return "" if last == message.mark else f"{self._replica.name} has the journal up to sn {last.sn}"


def reported(outcome: HandoverOutcome) -> dict[str, Any]:
    return {"refused": outcome.refused, "server": outcome.successor}
