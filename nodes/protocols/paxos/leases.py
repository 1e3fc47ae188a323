"""Read leases between the primary and its secondaries (safety rule 9).

A secondary answers reads for the held part of a term, counted from the moment it sent AskLease. The primary counts the whole term from its
grant, which is later. So a lease that the primary considers expired has expired, whichever of the two clocks runs faster.
"""

from __future__ import annotations

from nodes.config import MILLISECOND, Timing
from nodes.replicas.lease import Term
from nodes.world import Clock


def lease_ns(timing: Timing, session_timeout_ns: int) -> int:
    """The acknowledgement timeout, and a quarter of the session timeout at most.

    A primary grants leases only while it holds its own lease of the lock, so all of them have expired when its session times out.
    """
    return min(timing.ack_timeout_ms * MILLISECOND, session_timeout_ns // 4)


class GrantedLeases:
    """The leases that the primary has granted."""

    def __init__(self, clock: Clock, term: Term):
        self._clock = clock
        self._term = term
        self._until: dict[str, int] = {}

    def grant(self, server: str) -> None:
        self._until[server] = self._clock.monotonic_ns() + self._term.outlived_ns

    def over(self, server: str) -> bool:
        """Whether the server's lease has certainly expired."""
        return self._clock.monotonic_ns() >= self._until.get(server, 0)


class ReadLease:
    """A secondary's own lease. It never ends while the hole no_read_lease is open."""

    def __init__(self, clock: Clock, never_ends: bool):
        self._clock = clock
        self._never_ends = never_ends
        self._until_ns = 0

    def granted(self, sent_ns: int, term: Term) -> None:
        self._until_ns = max(self._until_ns, sent_ns + term.held_ns)

    def end(self) -> None:
        """Ends the lease: another ballot has begun, or this server is no secondary."""
        self._until_ns = 0

    @property
    def holds(self) -> bool:
        """Whether the lease holds now; checked in the same step that sends an answer."""
        return self._never_ends or self._clock.monotonic_ns() < self._until_ns
