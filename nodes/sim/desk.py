"""What handling messages costs one simulated server: it takes them one by one, and what it sends leaves when it is done with the one at hand."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from nodes.sim.loop import Machine

Step = Callable[[], None]


def _nothing() -> int:
    return 0


class Desk:
    """The queue before one server, in order of arrival. A cluster without desks handles messages in no time."""

    def __init__(self, machine: Machine, message_ns: int, more_ns: Callable[[], int] = _nothing):
        self._machine = machine
        self._message_ns = message_ns
        self._more_ns = more_ns
        """Asked once after each message: what handling it took beyond `message_ns`, a disk's time for instance."""
        self._waiting: deque[Step] = deque()
        self._busy = False
        self.free_ns = 0
        """When the server is done with the message it was given last."""
        self.worked_ns = 0

    def take(self, step: Step) -> None:
        """Runs `step` on the server once it has handled all that came before."""
        self._waiting.append(step)
        if not self._busy:
            self._next()

    def _next(self) -> None:
        self._busy = bool(self._waiting)
        if self._busy:
            self._machine.call_later(self._message_ns, self._handle, self._waiting.popleft())

    def _handle(self, step: Step) -> None:
        step()
        more_ns = self._more_ns()
        self.worked_ns += self._message_ns + more_ns
        self.free_ns = self._machine.loop.now_ns + more_ns
        if more_ns:
            self._machine.call_later(more_ns, self._next)
        else:
            self._next()
