"""The service time of messages at one simulated server. It handles them one by one, and its output leaves when the present one is done."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from nodes.sim.loop import Machine
from nodes.trace.present import Cause

Step = Callable[[], None]


def _nothing() -> int:
    return 0


class ServiceTimeModel:
    """The queue of one server, in order of arrival. A cluster without desks handles messages in no time."""

    def __init__(
        self,
        machine: Machine,
        message_ns: int,
        more_ns: Callable[[], int] = _nothing,
        threads: int | None = None,
    ):
        self._machine = machine
        self._message_ns = message_ns
        self._more_ns = more_ns
        """Called once after each message: the time that it took beyond `message_ns`, such as a disk's."""
        self._threads = threads
        """Number of waiting messages that count as ready, so that idle steps run after them; None for all."""
        self._waiting: deque[tuple[bool, Step, Cause]] = deque()
        """Messages, and (False) steps without service time between them, with their causes."""
        self._busy = False
        self.free_ns = 0
        """Time when the server is done with the last message in its queue."""

    @property
    def idle(self) -> bool:
        return not self._busy

    def take(self, step: Step) -> None:
        """Runs `step` on the server once it has handled all earlier messages."""
        self._waiting.append((True, step, self._machine.loop.cause))
        if not self._busy:
            self._next()

    def when_idle(self, step: Step) -> bool:
        """Runs `step` after the messages that are ready now; False when there are none."""
        if self._busy:
            place = len(self._waiting) if self._threads is None else self._threads
            self._waiting.insert(place, (False, step, self._machine.loop.cause))
        return self._busy

    def _next(self) -> None:
        self._busy = True
        while self._waiting:
            is_message, step, cause = self._waiting.popleft()
            self._machine.loop.cause = self._machine.loop.began = cause
            if is_message:
                self._machine.call_later(self._message_ns, self._handle, step)
                return
            step()
        self._busy = False

    def _handle(self, step: Step) -> None:
        step()
        more_ns = self._more_ns()
        self.free_ns = self._machine.loop.now_ns + more_ns
        if more_ns:
            self._machine.call_later(more_ns, self._next)
        else:
            self._next()
