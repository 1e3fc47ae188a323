"""Detection of dead clients. The leader decides from the stamps of records, never from a clock where the record is applied (safety rule 10)."""

from __future__ import annotations

from nodes.config import MILLISECOND, ClusterConfig
from nodes.errors import FsError
from nodes.metadata.operations import OpenSession, Operation
from nodes.metadata.sessions import ClientSessions
from nodes.world import Clock

ENDED_AT_ONCE = 256
"""Largest number of sessions that end in one round."""


class IdleSessions:
    """One tenure's view of idle sessions. A new leader first gives clients time, because they may have had no server for their renewals."""

    def __init__(self, clock: Clock, cluster: ClusterConfig):
        self._clock = clock
        self._never = cluster.mutations.sessions_never_end
        self.ttl_ns = cluster.session_ttl_ms * MILLISECOND
        self.wait_anew()

    def wait_anew(self) -> None:
        """Gives clients time, because the group took no renewals."""
        self._from_ns = self._clock.monotonic_ns() + self.ttl_ns // 2

    @property
    def round_ns(self) -> int:
        """Interval between two checks."""
        return max(self.ttl_ns // 8, 10 * MILLISECOND)

    def due(self, sessions: ClientSessions, now_ns: int) -> list[str]:
        """Clients whose sessions end now. `now_ns` is the stamp of the record that would end them."""
        if self._never or self._clock.monotonic_ns() < self._from_ns:
            return []
        return self.unused(sessions, now_ns - self.ttl_ns)[:ENDED_AT_ONCE]

    def unused(self, sessions: ClientSessions, stamp_ns: int) -> list[str]:
        """Clients that have been silent since this stamp."""
        return sessions.unused_since(stamp_ns)


def check_fresh(operation: Operation, client: str, now_ns: int, ttl_ns: int) -> None:
    """A copy of `OpenSession` that arrives when the session may have ended must neither open it again nor renew a later one. Raises FsError
    ESTALE."""
    if type(operation) is OpenSession and now_ns - operation.asked_ns > ttl_ns:
        raise FsError("ESTALE", f"the session {client} was to be opened long ago: ask again")
