"""Real-time order: the position that the history had certainly reached when a call was invoked."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from nodes.trace.events import Stamped

KEPT = 8_192


class RealTime:
    """The largest position among the calls that had returned, by time: a step function.

    From `times[i]` on, every new call must come after `positions[i]`, at which `calls[i]` was answered.
    """

    def __init__(self) -> None:
        self._times: list[int] = []
        self._positions: list[int] = []
        self._calls: list[Stamped] = []

    def returned(self, returned_ns: int, position: int, call: Stamped) -> None:
        """Adds a returned call. Calls mostly arrive in the order of time; a late one is inserted in its place."""
        times, positions = self._times, self._positions
        last = len(times) - 1
        if last < 0 or (returned_ns > times[last] and position > positions[last]):
            times.append(returned_ns)
            positions.append(position)
            self._calls.append(call)
            if last > 2 * KEPT:
                self._thin_out()
        elif returned_ns == times[last]:
            if position > positions[last]:
                positions[last], self._calls[last] = position, call
        elif returned_ns < times[last]:
            self._insert(returned_ns, position, call)

    def _thin_out(self) -> None:
        """Removes every second step of the older half. `answered_by` stays correct, but becomes less sharp."""
        del self._times[:KEPT:2], self._positions[:KEPT:2], self._calls[:KEPT:2]

    def _insert(self, returned_ns: int, position: int, call: Stamped) -> None:
        times, positions = self._times, self._positions
        begin = bisect_left(times, returned_ns)
        if begin and positions[begin - 1] >= position:
            return
        end = begin
        while end < len(times) and positions[end] <= position:
            end += 1
        if end < len(times) and times[end] == returned_ns:
            return
        times[begin:end], positions[begin:end], self._calls[begin:end] = [returned_ns], [position], [call]

    def answered_by(self, invoked_ns: int) -> int:
        """The largest position that had been answered by this moment; -1 when none is known.

        In virtual time a caller's next call begins in the nanosecond in which the last one returned. This is an order too, because no answer
        arrives without delay.
        """
        times = self._times
        if times and times[-1] <= invoked_ns:
            return self._positions[-1]
        index = bisect_right(times, invoked_ns)
        return self._positions[index - 1] if index else -1

    def witness(self, invoked_ns: int) -> Stamped:
        """The call that was answered at `answered_by(invoked_ns)`."""
        return self._calls[bisect_right(self._times, invoked_ns) - 1]
