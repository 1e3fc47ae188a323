"""The clock that stamps records: a wall clock that cannot jump."""

from __future__ import annotations

from nodes.config import SECOND
from nodes.world import Clock

PART = 8
"""A stamp's clock runs at most an eighth faster or slower than the monotonic clock."""
AHEAD_NS = 3_600 * SECOND
"""What is further ahead of this server's stamps is not believed."""


class RecordClock:
    """One server's hybrid logical clock, from the start of its process.

    It begins with the wall clock and follows it, but between two readings it advances by no more than nine eighths of the monotonic time that
    has passed, and by no less than seven eighths. So a wall clock that jumps an hour ahead carries no record with it: later records are stamped
    at most (last reading + elapsed monotonic time by 9/8), groups go on agreeing, and sessions, whose ends are counted in these stamps, do not
    end early. When the wall clock is set right again the stamps are too, by an eighth of the time that passes. Whatever it says is later than
    every record of the group, every answer and everything heard. What was wrong when the process began is believed until then: restart a server
    whose clock is set right by more than that.
    """

    def __init__(self, clock: Clock, jumps: bool = False):
        self._clock = clock
        self._jumps = jumps
        """The known bug: stamps follow the wall clock however far it jumps (`clock_jump_stamps`)."""
        self._read_ns = clock.wall_ns()
        self._at_ns = clock.monotonic_ns()
        self._heard_ns = 0
        self._last_ns = 0

    def read_ns(self) -> int:
        """The wall clock as far as it is believed."""
        wall_ns, at_ns = self._clock.wall_ns(), self._clock.monotonic_ns()
        if self._jumps:
            return wall_ns
        passed_ns = at_ns - self._at_ns
        least_ns = self._read_ns + passed_ns - passed_ns // PART
        most_ns = self._read_ns + passed_ns + passed_ns // PART
        self._read_ns, self._at_ns = min(max(wall_ns, least_ns), most_ns), at_ns
        return self._read_ns

    def next_ns(self, newest_ns: int) -> int:
        """A stamp later than `newest_ns`, which the group's newest record bears, and than every stamp before."""
        self._last_ns = max(self.read_ns(), max(newest_ns, self._heard_ns, self._last_ns) + 1)
        return self._last_ns

    def heard(self, at_ns: int) -> None:
        """Another group, or a client, has seen this stamp."""
        if self._heard_ns < at_ns < self.read_ns() + AHEAD_NS:
            self._heard_ns = at_ns
