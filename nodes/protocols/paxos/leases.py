"""Read leases between the primary and its secondaries (safety rule 9).

A secondary answers reads for the held part of a term from the moment it sent the question that the primary granted. The primary counts the whole of
it from its own, later, moment: when it believes the lease to be over, it is, whichever of the two clocks runs faster.
"""

from __future__ import annotations

from nodes.config import MILLISECOND, Timing
from nodes.replicas.lease import Term
from nodes.world import Clock


def lease_ns(timing: Timing, session_timeout_ns: int) -> int:
    """As long as a silent member is waited for, and a quarter of a session at most.

    A primary grants leases while it holds the lock's, so that all that it granted has run out with the time-out of its session.
    """
    return min(timing.ack_timeout_ms * MILLISECOND, session_timeout_ns // 4)


class Granted:
    """The primary's book of leases."""

    def __init__(self, clock: Clock, term: Term):
        self._clock = clock
        self._term = term
        self._until: dict[str, int] = {}

    def grant(self, server: str) -> None:
        self._until[server] = self._clock.monotonic_ns() + self._term.outlived_ns

    def over(self, server: str) -> bool:
        """Whether the server surely answers no read any more."""
        return self._clock.monotonic_ns() >= self._until.get(server, 0)


class ReadLease:
    """A secondary's own. With the hole open it never ends."""

    def __init__(self, clock: Clock, never_ends: bool):
        self._clock = clock
        self._never_ends = never_ends
        self._until_ns = 0

    def granted(self, sent_ns: int, term: Term) -> None:
        self._until_ns = max(self._until_ns, sent_ns + term.held_ns)

    def end(self) -> None:
        """Another ballot has begun, or this server is no secondary."""
        self._until_ns = 0

    @property
    def holds(self) -> bool:
        """Asked in the same step that sends an answer."""
        return self._never_ends or self._clock.monotonic_ns() < self._until_ns
