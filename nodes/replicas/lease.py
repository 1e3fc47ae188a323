"""The lease under which an active answers (CFS §3.1 IO fencing; safety rule 16).

Epochs protect writes; the lease protects reads. It runs from the moment the confirming request was sent, for two thirds of the negotiated
session time-out, on a clock that goes on while the process is stopped.
"""

from __future__ import annotations

from nodes.trace.events import LeaseConfirmed, LeaseLost
from nodes.world import World


class Lease:
    """One tenure's: its end is told once, and that it holds again."""

    def __init__(self, world: World, never_ends: bool):
        self._clock = world.clock
        self._coordination = world.coordination
        self._trace = world.trace
        self._never_ends = never_ends
        self._until_ns = 0
        self._ended = False
        """And so it was told."""

    def confirmed(self, sent_at_ns: int) -> None:
        """A coordination request sent at this time was answered under the session."""
        self._until_ns = max(self._until_ns, sent_at_ns + self._coordination.session_timeout_ns * 2 // 3)

    def suspend(self) -> None:
        """The connection is in doubt: nothing is answered before the next confirmation."""
        self._until_ns = 0

    @property
    def holds(self) -> bool:
        """Asked in the same step that sends an answer."""
        return self._never_ends or self._clock.monotonic_ns() < self._until_ns

    def lets_out(self, epoch: int) -> bool:
        """Asked in the same step that sends an answer; tells when that has changed."""
        holds = self.holds
        if holds == self._ended:
            self._ended = not holds
            late_ns = self._clock.monotonic_ns() - self._until_ns
            self._trace.emit(LeaseConfirmed(epoch) if holds else LeaseLost(epoch, late_ns))
        return holds

    async def watch(self, epoch: int, pause_ns: int) -> None:
        """For ever: its end is told though there is no answer to be held back."""
        while True:
            left_ns = self._until_ns - self._clock.monotonic_ns()
            await self._clock.sleep(left_ns if 0 < left_ns < pause_ns else pause_ns)
            self.lets_out(epoch)
