"""The end of a view as every server takes part in it (SAA §5.3; safety rule 7).

A server promises an attempt before it tells what it has, and serves no earlier one from then on. What the coordination service knows of
attempts is promised when a server starts, so nothing of this must be remembered on its disk.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from nodes.config import MILLISECOND
from nodes.protocols.symmetric.bringing import SETTLE_OCTETS
from nodes.protocols.symmetric.member import Member
from nodes.protocols.symmetric.messages import Fetch, Fetched, Flush, Flushed, Settle, Settled
from nodes.protocols.symmetric.replica import Replica
from nodes.replicas.log import decode_group, mark_of
from nodes.trace.events import Warned
from nodes.wire.messages import JournalGroup, Mark

AHEAD_MAX = 64
"""Attempts that a server may not have heard of yet; each one begins in the coordination service."""


class Settling:
    def __init__(self, replica: Replica, member: Callable[[], Member | None]):
        self._replica = replica
        self._member = member
        self._world = replica.world
        self._began_ns = self._world.clock.monotonic_ns()
        self.promised = 0
        """No earlier attempt is served."""
        self.settled = 0
        """The attempt at whose goal this server's journal is, durably, in this life."""

    # --- flush --------------------------------------------------------------------------------------------------------

    def on_flush(self, peer: str, message: Flush) -> None:
        if not self._cannot_be(peer, message):
            self._world.network.send(peer, self.flush(message))

    def _cannot_be(self, peer: str, message: Flush | Settle) -> bool:
        begun = self._replica.agreement.agreed.attempt
        wild = message.attempt > begun + AHEAD_MAX
        if wild:
            told = f"of attempt {message.attempt}; attempt {begun} is the newest"
            self._replica.ignoring.tell(peer, message, told)
        return wild

    def flush(self, message: Flush) -> Flushed:
        """Promises the attempt, wedges the view, tells what this server has."""
        if message.attempt < self.promised:
            return Flushed(message.call, self.promised, [], False, (0, 0), [], [])
        self.promised = message.attempt
        tails = self._replica.log.tails()
        member = self._member()
        if member is None or member.view.number != message.view:
            free_ns = [self._earlier_life_ns()] * min(message.size, 1024)
            return Flushed(message.call, self.promised, tails, False, (0, 0), [], free_ns)
        member.wedge()
        free_ns = member.presence.free_ns(self._world.clock.monotonic_ns())
        undelivered = [] if self._is_settled(member.view.number) else member.undelivered()
        return Flushed(message.call, self.promised, tails, True, member.frontier, undelivered, free_ns)

    def _is_settled(self, view: int) -> bool:
        """An earlier attempt has put what was undelivered into the journal."""
        return self._replica.log.last.epoch > view

    def _earlier_life_ns(self) -> int:
        """How long a lease may last that this server granted before it began this life."""
        lease_ns = self._replica.config.cluster.timing.ack_timeout_ms * MILLISECOND
        passed_ns = self._world.clock.monotonic_ns() - self._began_ns
        return max(0, lease_ns + lease_ns // 10 - passed_ns)

    # --- settle -------------------------------------------------------------------------------------------------------

    def on_fetch(self, peer: str, message: Fetch) -> None:
        log = self._replica.log
        groups = (
            log.octets(message.from_sn, log.last.sn, SETTLE_OCTETS)
            if message.attempt >= self.promised
            else []
        )
        self._world.network.send(peer, Fetched(message.call, groups))

    def on_settle(self, peer: str, message: Settle) -> None:
        if not self._cannot_be(peer, message):
            self._world.scope.spawn(self._settle(peer, message), "settling")

    async def _settle(self, peer: str, message: Settle) -> None:
        async with self._replica.settling:
            matched = await self._adopt(peer, message)
        answer = Settled(message.call, self.promised, self._replica.log.last, matched)
        self._world.network.send(peer, answer)

    async def _adopt(self, peer: str, message: Settle) -> bool:
        """Whether the journal holds what the message brought, durably."""
        log = self._replica.log
        member = self._member()
        if message.attempt < self.promised or not log.holds(message.previous):
            return False
        if member is not None and not member.wedged:
            return False
        if message.final:
            self.promised = message.attempt
        try:
            groups = decoded(message.groups, message.previous)
        except ValueError as error:
            self._world.trace.emit(Warned(f"{peer} settles what is no journal: {error}"))
            return False
        if not await self.write(groups, message.attempt):
            return False
        if log.holds(message.goal):
            await self._replica.cut(message.goal.sn, f"{peer} settled the view without it")
        await self._replica.sync()
        if message.attempt < self.promised:
            return False
        if message.final and log.last == message.goal:
            self.settled = message.attempt
        return True

    async def write(self, groups: list[tuple[JournalGroup, bytes, Mark]], attempt: int) -> bool:
        """Brings groups into the journal in place of others; False when a later attempt began meanwhile."""
        log = self._replica.log
        for group, octets, mark in groups:
            if log.holds(mark):
                continue
            await self._replica.cut(group.sn - 1, "the view was settled with another group")
            if attempt < self.promised:
                return False
            self._replica.take(group, octets, mark)
        return True


def decoded(groups: list[bytes], previous: Mark) -> list[tuple[JournalGroup, bytes, Mark]]:
    """Groups with their marks, each of which must follow the one before. Raises ValueError."""
    found = []
    for octets in groups:
        try:
            group = decode_group(octets)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise ValueError(f"a group behind {previous.sn} cannot be read: {error}") from None
        if group.previous != previous or group.sn != previous.sn + 1:
            raise ValueError(f"group {group.sn} does not follow group {previous.sn}")
        previous = mark_of(group, octets)
        found.append((group, octets, previous))
    return found
