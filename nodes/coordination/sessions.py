"""Sessions and their expiry, in buckets of one tick as in ZooKeeper's ExpiryQueue."""

from __future__ import annotations

import msgspec

from nodes.coordination.acl import UNKNOWN, Identities

NEVER_MS = 1 << 62


class ZooKeeperSession(msgspec.Struct):
    number: int
    timeout_ms: int
    """The negotiated time-out."""
    password: bytes = b""
    ephemerals: dict[str, None] = {}
    identities: Identities = UNKNOWN
    """Identities of its present connection."""
    proven: bool = False
    """Whether a connection of it was ever authenticated, since the server started."""
    bucket_ms: int = 0
    """Time when the session is due unless it is touched before."""


class ZooKeeperSessions:
    """Due times are rounded up to the tick: a session ends within a tick after its time-out, never before."""

    def __init__(self, tick_ms: int, min_timeout_ms: int, max_timeout_ms: int):
        assert tick_ms > 0 and 0 < min_timeout_ms <= max_timeout_ms
        self.tick_ms = tick_ms
        self.min_timeout_ms, self.max_timeout_ms = min_timeout_ms, max_timeout_ms
        self.open: dict[int, ZooKeeperSession] = {}
        self._buckets: dict[int, dict[int, None]] = {}

    def negotiate(self, timeout_ms: int) -> int:
        """The time-out asked for, within the bounds."""
        return min(max(timeout_ms, self.min_timeout_ms), self.max_timeout_ms)

    def add(self, session: ZooKeeperSession, now_ms: int) -> None:
        self.open[session.number] = session
        self.touch(session.number, now_ms)

    def touch(self, number: int, now_ms: int) -> bool:
        """Notes a message of the session; False when there is none."""
        session = self.open.get(number)
        if session is None:
            return False
        due = (now_ms + session.timeout_ms) // self.tick_ms * self.tick_ms + self.tick_ms
        if due > session.bucket_ms:
            self._leave_bucket(session)
            session.bucket_ms = due
            self._buckets.setdefault(due, {})[number] = None
        return True

    def touch_all(self, now_ms: int) -> None:
        """Restarts every time-out: after a restart, or after the clock restarted."""
        for number in self.open:
            self.restart(number, now_ms)

    def restart(self, number: int, now_ms: int) -> None:
        """Starts the time-out at `now_ms`, whatever clock it was counted by before."""
        session = self.open[number]
        self._leave_bucket(session)
        session.bucket_ms = 0
        self.touch(number, now_ms)

    def suspend(self, number: int) -> None:
        """Stops the time-out: the session's end is decided, though not yet carried out."""
        session = self.open[number]
        self._leave_bucket(session)
        session.bucket_ms = NEVER_MS

    def remove(self, number: int) -> ZooKeeperSession | None:
        session = self.open.pop(number, None)
        if session is not None:
            self._leave_bucket(session)
        return session

    def _leave_bucket(self, session: ZooKeeperSession) -> None:
        bucket = self._buckets.get(session.bucket_ms)
        if bucket is not None:
            bucket.pop(session.number, None)
            if not bucket:
                del self._buckets[session.bucket_ms]

    def due(self, now_ms: int) -> list[int]:
        """Numbers of the sessions that must end by now, oldest due time first."""
        late = sorted(bucket for bucket in self._buckets if bucket <= now_ms)
        return [number for bucket in late for number in self._buckets[bucket]]

    def next_due_ms(self) -> int | None:
        """Time when `due` will next have a session, or None without sessions."""
        return min(self._buckets, default=None)
