"""Detection of dead clients in a group whose members all stamp records (safety rule 10).

Each member stamps the calls that it receives, so the stamp of a renewal may be far from the clock of the member that looks for dead clients. So that
member also measures, by its own monotonic clock, how long it has seen no newer stamp. Both must be a session's time to live: no late copy of the call
that opened a session is fresh when the session has ended, and no error of a wall clock ends the session of a living client.
"""

from __future__ import annotations

from nodes.config import ClusterConfig
from nodes.metadata.sessions import ClientSessions
from nodes.metadata_server.idle_sessions import IdleSessions
from nodes.world import Clock


class SilentClients(IdleSessions):
    """The clients without a record for their sessions' time to live, as one member has seen them since its start, in all views."""

    def __init__(self, clock: Clock, cluster: ClusterConfig):
        super().__init__(clock, cluster)
        self._seen: dict[str, tuple[int, int]] = {}
        """By client, the stamp of its last record and the time at which this member first saw it."""
        self._turn = 0

    def observe(self, sessions: ClientSessions, turn: int) -> None:
        """Takes the present stamps; once per round. The first member may be a new one again and again, so the others look for dead clients too, in
        turn."""
        self._turn = turn
        now_ns, before = self._clock.monotonic_ns(), self._seen
        self._seen = {
            client: seen
            if (seen := before.get(client)) is not None and seen[0] == session.used_ns
            else (session.used_ns, now_ns)
            for client, session in sessions
        }

    def unused(self, sessions: ClientSessions, stamp_ns: int) -> list[str]:
        since_ns = self._clock.monotonic_ns() - self.ttl_ns - self._turn * self.round_ns
        return [client for client in super().unused(sessions, stamp_ns) if self._seen[client][1] <= since_ns]
