"""The clock that stamps records: a wall clock that cannot jump."""

from __future__ import annotations

from nodes.config import SECOND
from nodes.world import Clock

PART = 8
"""A stamp's clock runs at most an eighth faster or slower than the monotonic clock."""
AHEAD_NS = 3_600 * SECOND
"""Received stamps further ahead of this server's stamps are not believed."""


class RecordClock:
    """One server's hybrid logical clock, from the start of its process.

    The clock begins with the wall clock and follows it. Between two readings it advances by at least seven eighths and at most nine eighths of
    the elapsed monotonic time. A wall clock that jumps an hour ahead therefore carries no record with it: later records are stamped at most
    (last reading + 9/8 of the elapsed monotonic time). Groups still agree, and sessions, whose ends are counted in these stamps, do not end
    early. When the wall clock is corrected, the stamps follow at an eighth of the elapsed time. Each stamp is later than every record of the
    group, every answer and every received stamp. An error of the wall clock at the start of the process is believed until then: restart a server
    whose clock is corrected by more than that.
    """

    def __init__(self, clock: Clock, jumps: bool = False):
        self._clock = clock
        self._jumps = jumps
        """The known bug: stamps follow the wall clock however far it jumps (`clock_jump_stamps`)."""
        self._read_ns = clock.wall_ns()
        self._at_ns = clock.monotonic_ns()
        self._received_ns = 0
        self._last_ns = 0

    def read_ns(self) -> int:
        """The wall clock, as far as it is believed."""
        wall_ns, at_ns = self._clock.wall_ns(), self._clock.monotonic_ns()
        if self._jumps:
            return wall_ns
        passed_ns = at_ns - self._at_ns
        expected_ns, most_off_ns = self._read_ns + passed_ns, passed_ns // PART
        if wall_ns < expected_ns - most_off_ns:
            wall_ns = expected_ns - most_off_ns
        elif wall_ns > expected_ns + most_off_ns:
            wall_ns = expected_ns + most_off_ns
        self._read_ns, self._at_ns = wall_ns, at_ns
        return wall_ns

    @property
    def latest_ns(self) -> int:
        """The clock, or the latest received stamp if that is later."""
        return max(self.read_ns(), self._received_ns)

    def next_ns(self, newest_ns: int) -> int:
        """A stamp later than `newest_ns`, the stamp of the group's newest record, and later than every stamp before."""
        last_ns = self._last_ns
        if newest_ns > last_ns:
            last_ns = newest_ns
        if self._received_ns > last_ns:
            last_ns = self._received_ns
        now_ns = self.read_ns()
        self._last_ns = now_ns if now_ns > last_ns else last_ns + 1
        return self._last_ns

    def received(self, at_ns: int) -> None:
        """Another group, or a client, has seen this stamp."""
        if self._received_ns < at_ns < self.read_ns() + AHEAD_NS:
            self._received_ns = at_ns
