"""Read leases between the primary and its secondaries (safety rule 9).

A secondary answers reads for `lease_ns` from the moment it sent the question that the primary granted. The primary counts the same time from its own,
later, moment: when it believes the lease to be over, it is. Old ones need no waiting for once the old primary's session has ended: see `lease_ns`.
"""

from __future__ import annotations

from nodes.config import MILLISECOND, Timing
from nodes.world import Clock


def lease_ns(timing: Timing, session_timeout_ns: int) -> int:
    """As long as a silent member is waited for, and a third of a session at most.

    A primary grants leases for two thirds of its session after it was last confirmed: with the session all that it granted has run out.
    """
    return min(timing.ack_timeout_ms * MILLISECOND, session_timeout_ns // 3)


class Granted:
    """The primary's book of leases."""

    def __init__(self, clock: Clock, length_ns: int):
        self._clock = clock
        self._length_ns = length_ns
        self._until: dict[str, int] = {}

    def grant(self, server: str) -> None:
        self._until[server] = self._clock.monotonic_ns() + self._length_ns

    def over(self, server: str) -> bool:
        """Whether the server surely answers no read any more."""
        return self._clock.monotonic_ns() >= self._until.get(server, 0)


class ReadLease:
    """A secondary's own. With the hole open it never ends."""

    def __init__(self, clock: Clock, never_ends: bool):
        self._clock = clock
        self._never_ends = never_ends
        self._until_ns = 0

    def granted(self, sent_ns: int, length_ns: int) -> None:
        self._until_ns = max(self._until_ns, sent_ns + length_ns)

    def end(self) -> None:
        """Another ballot has begun, or this server is no secondary."""
        self._until_ns = 0

    @property
    def holds(self) -> bool:
        """Asked in the same step that sends an answer."""
        return self._never_ends or self._clock.monotonic_ns() < self._until_ns
