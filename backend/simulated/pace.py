"""The speed of virtual time: which virtual instant is due at a time of the wall clock. Pure functions of an anchor and the clock."""

from __future__ import annotations

import msgspec

SLOWEST = 0.1
FASTEST = 1000.0
LAG_NS = 250_000_000
"""Wall time by which a simulation may be late. A later one goes on from where it is, and its debt is forgotten."""


class Pace(msgspec.Struct, frozen=True):
    """At `wall_ns` of the wall clock the virtual instant `virtual_ns` is due; from there virtual time runs `speed` times as fast."""

    speed: float
    wall_ns: int
    virtual_ns: int

    def due_ns(self, wall_ns: int) -> int:
        """The virtual instant that is due. A clock that went back does not take virtual time with it."""
        return self.virtual_ns + max(0, round((wall_ns - self.wall_ns) * self.speed))

    def lag_ns(self, wall_ns: int, reached_ns: int) -> int:
        """How late a simulation is that has reached this instant, in wall time."""
        return max(0, round((self.due_ns(wall_ns) - reached_ns) / self.speed))

    def kept(self, wall_ns: int, reached_ns: int) -> Pace:
        """The pace to go on with: the same, or one from here on when the simulation cannot keep up."""
        if self.lag_ns(wall_ns, reached_ns) <= LAG_NS:
            return self
        return Pace(self.speed, wall_ns, reached_ns)
