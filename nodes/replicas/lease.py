"""The lease under which an active answers (CFS §3.1 IO fencing; safety rule 16).

Epochs protect writes; the lease protects reads. It runs from the moment the confirming request was sent, for two thirds of the negotiated
session time-out, on a clock that goes on while the process is stopped.
"""

from __future__ import annotations

from nodes.trace.events import LeaseConfirmed, LeaseLost
from nodes.world import World


class Lease:
    def __init__(self, world: World, never_ends: bool):
        self._clock = world.clock
        self._coordination = world.coordination
        self._never_ends = never_ends
        self._until_ns = 0

    def confirmed(self, sent_at_ns: int) -> None:
        """A coordination request sent at this time was answered under the session."""
        self._until_ns = max(self._until_ns, sent_at_ns + self._coordination.session_timeout_ns * 2 // 3)

    def suspend(self) -> None:
        """The connection is in doubt: nothing is answered before the next confirmation."""
        self._until_ns = 0

    @property
    def late_ns(self) -> int:
        """How long ago the lease ended; not positive while it holds."""
        if self._never_ends:
            return 0
        return self._clock.monotonic_ns() - self._until_ns

    @property
    def holds(self) -> bool:
        """Asked in the same step that sends an answer."""
        return self._never_ends or self._clock.monotonic_ns() < self._until_ns


class Fence:
    """One tenure's answers: let out while the lease holds; its end is told once, and that it holds again."""

    def __init__(self, world: World, lease: Lease):
        self._trace = world.trace
        self._lease = lease
        self._closed = False

    def passes(self, epoch: int) -> bool:
        """Asked in the same step that sends an answer."""
        holds = self._lease.holds
        if holds == self._closed:
            self._closed = not holds
            self._trace.emit(LeaseConfirmed(epoch) if holds else LeaseLost(epoch, self._lease.late_ns))
        return holds
