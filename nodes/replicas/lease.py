"""Leases: the lock's lease, under which an active answers (CFS §3.1 IO fencing; safety rule 16), and the times that both ends of any lease count.

Epochs protect writes; the lease protects reads. It runs from the moment when the confirming write was sent, for two thirds of the negotiated session
time-out less a margin, on a clock that also runs while the process is stopped.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from nodes.config import MILLISECOND, ClusterConfig
from nodes.mutations import Mutations
from nodes.trace.lease_events import LeaseConfirmed, LeaseLost
from nodes.world import Coordination, World


class Term(NamedTuple):
    """Times that the two ends of one lease count, in nanoseconds, each on its own clock."""

    held_ns: int
    """The holder counts this time from when it sent the message that asks for or confirms the lease."""
    outlived_ns: int
    """A server that waits for the lease's end counts this time from when it answered or saw that message."""


def term_of(length_ns: int, mutations: Mutations) -> Term:
    """A lease of this length when either clock may run up to a tenth too fast or too slow."""
    if mutations.lease_without_margin:
        return Term(length_ns, length_ns)
    return Term(length_ns * 10 // 11, length_ns * 11 // 10)


def lock_term(session_timeout_ns: int, mutations: Mutations) -> Term:
    """The lock's lease: two thirds of a session, so that it has run out before the session's time-out is over."""
    return term_of(session_timeout_ns * 2 // 3, mutations)


def session_of_lease_ns(coordination: Coordination, cluster: ClusterConfig) -> int:
    """The session time-out by which a holder counts: the one that the service negotiated."""
    if cluster.mutations.configured_not_negotiated:
        return cluster.timing.session_timeout_ms * MILLISECOND
    return coordination.session_timeout_ns


class Granting(Protocol):
    @property
    def until_ns(self) -> int:
        """Time until which the members grant the lease."""


class Lease:
    """The lease of one tenure. It emits an event when it ends and when it holds again."""

    def __init__(self, world: World, cluster: ClusterConfig, grants: Granting):
        self._grants = grants
        self._clock = world.clock
        self._coordination = world.coordination
        self._trace = world.trace
        self._cluster = cluster
        self._never_ends = cluster.holes.no_fencing
        self._confirmed_until_ns = 0
        self._over = False
        """The lease has ended for good."""
        self._ended = False
        """The end of the lease was reported."""

    @property
    def _until_ns(self) -> int:
        return min(self._confirmed_until_ns, self._grants.until_ns)

    @property
    def held_ns(self) -> int:
        """Time for which the lease holds after a confirmation."""
        session_ns = session_of_lease_ns(self._coordination, self._cluster)
        return lock_term(session_ns, self._cluster.mutations).held_ns

    def confirmed(self, sent_at_ns: int) -> None:
        """The service answered a write sent at this time: the lock was this server's, under its session."""
        self._confirmed_until_ns = max(self._confirmed_until_ns, sent_at_ns + self.held_ns)

    def suspend(self) -> None:
        """The connection is in doubt: no answer is sent before the next confirmation."""
        self._confirmed_until_ns = 0

    def end(self) -> None:
        """No answer is sent in this tenure any more, whatever is confirmed."""
        self._over = True

    @property
    def holds(self) -> bool:
        """Whether the lease holds. Checked in the same step that sends an answer."""
        if self._over:
            return False
        return self._never_ends or self._clock.monotonic_ns() < self._until_ns

    def may_reply(self, epoch: int) -> bool:
        """Whether an answer may be sent. Checked in the same step that sends it; a change is reported."""
        holds = self.holds
        if holds == self._ended:
            self._ended = not holds
            late_ns = self._clock.monotonic_ns() - self._until_ns
            self._trace.emit(LeaseConfirmed(epoch) if holds else LeaseLost(epoch, late_ns))
        return holds

    async def watch(self, epoch: int, pause_ns: int) -> None:
        """Reports the end of the lease, without end, even when no answer is held back."""
        while True:
            left_ns = self._until_ns - self._clock.monotonic_ns()
            await self._clock.sleep(left_ns if 0 < left_ns < pause_ns else pause_ns)
            self.may_reply(epoch)
