"""Detection of dead clients. The server that looks for them decides from the stamps of records and by its own clock, never where the record is
applied (safety rule 10).

By the stamps, a client without a record for its session's time to live is dead: no late copy of the call that opened the session is fresh when it
has ended. But stamps jump where another member, another group or a client has later ones, so the server also measures, by its own monotonic clock,
how long it has seen no newer stamp: no error of a wall clock ends the session of a living client.
"""

from __future__ import annotations

from nodes.config import MILLISECOND, ClusterConfig
from nodes.errors import FsError
from nodes.metadata.operations import OpenSession, Operation
from nodes.metadata.sessions import ClientSessions
from nodes.world import Clock

ENDED_AT_ONCE = 256
"""Largest number of sessions that end in one round."""


class IdleSessions:
    """One server's view of idle sessions: a leader's in one tenure, or a member's since its start.

    A new leader first gives clients time, because they may have had no server for their renewals.
    """

    def __init__(self, clock: Clock, cluster: ClusterConfig, leads: bool = True):
        """`leads`: a new leader counts a quarter of the time to live as over. A living client renews its session within two thirds of it."""
        self._clock = clock
        self._never = cluster.mutations.sessions_never_end
        self.ttl_ns = cluster.session_ttl_ms * MILLISECOND
        self._counted_ns = self.ttl_ns // 4 if leads else 0
        """Time for which the clients of the first round count as silent."""
        self._seen: dict[str, tuple[int, int]] = {}
        """By client, the stamp of its last record and the time at which this server first saw it."""
        self.wait_anew()

    def wait_anew(self) -> None:
        """Gives clients time, because the group took no renewals."""
        self._asked_ns = self._clock.monotonic_ns()
        self._from_ns = self._asked_ns + self.ttl_ns // 2

    @property
    def round_ns(self) -> int:
        """Interval between two checks."""
        return max(self.ttl_ns // 8, 10 * MILLISECOND)

    def due(self, sessions: ClientSessions, now_ns: int, turn: int = 0) -> list[str]:
        """Clients whose sessions end now; asked once per round in which the group takes renewals. `now_ns` is the stamp of the record that would end
        them; `turn`: number of servers that look for dead clients, too, and have a round each before this one.

        When more than one round is missing, the group took no renewals, or this server stood still: clients get time anew.
        """
        self._observe(sessions)
        clock_ns = self._clock.monotonic_ns()
        if clock_ns - self._asked_ns > self.round_ns * 5 // 2:
            self.wait_anew()
        self._asked_ns = clock_ns
        if self._never or clock_ns < self._from_ns:
            return []
        since_ns = clock_ns - self.ttl_ns - turn * self.round_ns
        silent = [
            client
            for client in sessions.unused_since(now_ns - self.ttl_ns)
            if self._seen[client][1] <= since_ns
        ]
        return silent[:ENDED_AT_ONCE]

    def _observe(self, sessions: ClientSessions) -> None:
        """Takes the present stamps."""
        first_ns, before = self._clock.monotonic_ns() - self._counted_ns, self._seen
        self._counted_ns = 0
        self._seen = {
            client: seen
            if (seen := before.get(client)) is not None and seen[0] == session.used_ns
            else (session.used_ns, first_ns)
            for client, session in sessions
        }


def check_fresh(operation: Operation, client: str, now_ns: int, ttl_ns: int) -> None:
    """A copy of `OpenSession` that arrives when the session may have ended must neither open it again nor renew a later one. Raises FsError
    ESTALE."""
    if type(operation) is OpenSession and now_ns - operation.asked_ns > ttl_ns:
        raise FsError("ESTALE", f"the session {client} was to be opened long ago: ask again")
