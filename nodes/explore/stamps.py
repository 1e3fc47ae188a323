"""Stamps of records stay near true time, whatever the wall clocks do (nodes/metadata_server/record_clock.py)."""

from __future__ import annotations

from nodes.config import SECOND
from nodes.invariants.calls import WRITES, tag_of
from nodes.trace.events import Called, Stamped, Started

PART = 4
"""A stamp runs ahead by at most this part of the elapsed time: an eighth by the rule, and what a monotonic clock drifts."""
MARGIN_NS = SECOND


class Stamps:
    """Compares the stamp of each answered write with the wall clocks at the starts of servers: an error of a clock at a start is believed."""

    def __init__(self) -> None:
        self._first_ns = -1
        self._offset_ns = 0
        """The largest wall clock at a start, less the true time then."""
        self.ahead = ""
        """The first stamp that was too far ahead, as a sentence; empty while there is none."""

    def on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        if type(event) is Started:
            if self._first_ns < 0:
                self._first_ns = stamped.at_ns
            self._offset_ns = max(self._offset_ns, event.wall_ns - stamped.at_ns)
        elif type(event) is Called and not (event.error or self.ahead) and tag_of(event.operation) in WRITES:
            ahead_ns = event.stamp_ns - stamped.at_ns - self._offset_ns
            if ahead_ns > MARGIN_NS + (stamped.at_ns - self._first_ns) // PART:
                self.ahead = f"call {event.number} of {event.client} was stamped {ahead_ns / SECOND:.1f} s in the future by {event.server}"
