"""Every server's part in ending a view (SAA §5.3; safety rule 7).

A server promises an attempt before it reports its journal, and refuses earlier attempts afterwards. A starting server promises the newest attempt
in the coordination service, so its disk need not store the promise.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from nodes.protocols.symmetric.catch_up import SETTLE_BYTES
from nodes.protocols.symmetric.member import ViewMember
from nodes.protocols.symmetric.messages import Fetch, Fetched, Flush, Flushed, Numbered, Settle, Settled
from nodes.protocols.symmetric.replica import SymmetricReplica
from nodes.replicas.log import decode_group, mark_of
from nodes.trace.events import Warned
from nodes.wire.messages import JournalGroup, Mark

AHEAD_MAX = 64
"""Most attempts that a server may have missed; each one begins in the coordination service."""


class Settling:
    def __init__(
        self,
        replica: SymmetricReplica,
        member: Callable[[], ViewMember | None],
        on_promised: Callable[[], None],
    ):
        """`on_promised` is called when the view is about to change."""
        self._replica = replica
        self._on_promised = on_promised
        self._member = member
        self._world = replica.world
        self._began_ns = self._world.clock.monotonic_ns()
        self.ready = False
        """Whether this server has read the newest attempt since its start."""
        self.promised = 0
        """Promised attempt; earlier ones are refused."""
        self.flushed = 0
        """Newest attempt that asked this server for its journal's end."""
        self.settled = 0
        """Attempt whose goal this server's journal has durably reached since its start."""
        self._settled_ns = self._began_ns
        """Time at which it last did so. By then the members of the view before granted nothing more in it."""

    # --- flush --------------------------------------------------------------------------------------------------------

    def on_flush(self, peer: str, message: Flush) -> None:
        if not self._cannot_be(peer, message):
            self._world.network.send(peer, self.flush(message))

    def _cannot_be(self, peer: str, message: Flush | Settle) -> bool:
        """Whether a message belongs to no attempt under way that this server knows. A restarted server knows none before its first read."""
        agreed = self._replica.agreement.agreed
        begun = agreed.attempt
        ends_view = isinstance(message, Flush) or message.final
        over = ends_view and message.attempt <= agreed.number
        if self._replica.config.cluster.mutations.late_flush_ends_images:
            over = over and isinstance(message, Settle)
        wild = message.attempt > begun + AHEAD_MAX
        if not self._replica.config.cluster.mutations.stale_settle_adopted:
            wild = wild or over or not self.ready
        if wild:
            reason = (
                f"of attempt {message.attempt}; attempt {begun} is the newest, view {agreed.number} the last"
            )
            self._replica.ignoring.report(peer, message, reason)
        return wild

    def flush(self, message: Flush) -> Flushed:
        """Promises the attempt, wedges the view and reports this server's journal."""
        if message.attempt < self.promised:
            return self._flushed(message, [], False, (0, 0), [], [])
        self.promised = self.flushed = message.attempt
        self._on_promised()
        tails = self._replica.log.tails()
        member = self._member()
        if member is None or member.view.number != message.view:
            free_ns = [self._earlier_grants_ns()] * min(message.size, 1024)
            return self._flushed(message, tails, False, (0, 0), [], free_ns)
        member.wedge()
        free_ns = member.presence.free_ns(self._world.clock.monotonic_ns())
        if self._replica.log.last != member.fence:
            return self._flushed(message, tails, False, (0, 0), [], free_ns)
        return self._flushed(message, tails, True, member.frontier, member.undelivered(), free_ns)

    def _flushed(
        self,
        message: Flush,
        tails: list[Mark],
        live: bool,
        frontier: tuple[int, int],
        undelivered: list[Numbered],
        free_ns: list[int],
    ) -> Flushed:
        disk = self._replica.disk
        return Flushed(message.call, self.promised, tails, live, frontier, undelivered, free_ns, disk)

    def _earlier_grants_ns(self) -> int:
        """The remaining time of leases that this server granted in another view or before its restart, and of those that others granted before the
        view that it has settled and not begun. It may be new there, so that the leases of the view before needed no grant of it."""
        since_ns = max(self._replica.granted_ns, self._settled_ns)
        if self._replica.config.cluster.mutations.older_grants_forgotten:
            since_ns = self._began_ns
        passed_ns = self._world.clock.monotonic_ns() - since_ns
        return max(0, self._replica.term.outlived_ns - passed_ns)

    # --- settle -------------------------------------------------------------------------------------------------------

    def on_fetch(self, peer: str, message: Fetch) -> None:
        log = self._replica.log
        groups = (
            log.encoded(message.from_sn, log.last.sn, SETTLE_BYTES)
            if self.ready and message.attempt >= self.promised
            else []
        )
        self._world.network.send(peer, Fetched(message.call, groups))

    def on_settle(self, peer: str, message: Settle) -> None:
        if not self._cannot_be(peer, message):
            self._world.scope.spawn(self._settle(peer, message), "settling")

    async def _settle(self, peer: str, message: Settle) -> None:
        async with self._replica.settling:
            matched = await self._adopt(peer, message)
        instance = self._replica.disk.instance
        answer = Settled(message.call, self.promised, self._replica.log.last, matched, instance)
        self._world.network.send(peer, answer)

    async def _adopt(self, peer: str, message: Settle) -> bool:
        """Writes the groups of a message. Returns whether the journal holds them durably."""
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
        if message.final and log.holds(message.goal):
            await self._replica.cut(message.goal.sn, f"{peer} settled the view without it")
        await self._replica.sync()
        if message.attempt < self.promised:
            return False
        if message.final and log.last == message.goal:
            self.settled, self._settled_ns = message.attempt, self._world.clock.monotonic_ns()
        return True

    async def write(self, groups: list[tuple[JournalGroup, bytes, Mark]], attempt: int) -> bool:
        """Writes groups into the journal in place of others. Returns False when a later attempt has begun meanwhile."""
        log = self._replica.log
        for group, data, mark in groups:
            if log.holds(mark):
                continue
            await self._replica.cut(group.sn - 1, "the view was settled with another group")
            if attempt < self.promised:
                return False
            self._replica.take(group, data, mark)
        return True


def decoded(groups: list[bytes], previous: Mark) -> list[tuple[JournalGroup, bytes, Mark]]:
    """The groups with their marks; each group must follow the one before. Raises ValueError."""
    found = []
    for data in groups:
        try:
            group = decode_group(data)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise ValueError(f"a group behind {previous.sn} cannot be read: {error}") from None
        if group.previous != previous or group.sn != previous.sn + 1:
            raise ValueError(f"group {group.sn} does not follow group {previous.sn}")
        previous = mark_of(group, data)
        found.append((group, data, previous))
    return found
