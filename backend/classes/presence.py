"""Whether a student is there, and since when their lab stands still. Kept in memory: it says nothing about results."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Hashable


class StudentPresence:
    """Of one student, from the first request after the start of the control plane on."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._seen_s = clock()
        self._state: Hashable = None
        self._state_s = clock()
        self.sockets = 0
        """Pages that show the student's cluster live."""
        self.revoked = asyncio.Event()
        """Set when the key ends."""

    def seen(self) -> None:
        self._seen_s = self._clock()

    def look(self, state: Hashable) -> None:
        """Notes what the lab of the student is like now."""
        if state != self._state:
            self._state, self._state_s = state, self._clock()

    @property
    def away_s(self) -> float:
        """Seconds since the last request; 0 while a page is open."""
        return 0.0 if self.sockets else self._clock() - self._seen_s

    @property
    def still_s(self) -> float:
        """Seconds since the state last changed."""
        return self._clock() - self._state_s
