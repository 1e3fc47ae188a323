"""One direction of one TCP connection on simulated links: late or stalled, never lossy, never out of order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from nodes.sim.links import Links, SimLink
from nodes.sim.loop import Loop
from nodes.trace.present import Cause


class SimStream:
    """Delivers steps in the order of sending. A cut stalls them until a heal; a loss costs retransmissions, and later steps wait."""

    def __init__(self, loop: Loop, links: Links, way: tuple[str, str], also: tuple[str, str] | None = None):
        self._loop = loop
        self._link = links.of(*way)
        self._also = links.of(*also) if also else SimLink()
        """Another name of the same path: a fault of either affects it."""
        self._steps: deque[tuple[Callable[[], None], Cause]] = deque()
        """Steps in flight or stalled, oldest first, with their causes."""
        self._stalled = 0
        self._last_ns = 0
        self._open = True

    def send(self, step: Callable[[], None]) -> None:
        self._steps.append((step, self._loop.cause))
        self._depart()

    @property
    def cut(self) -> bool:
        return self._link.cut or self._also.cut

    def _depart(self) -> None:
        link, also, loop = self._link, self._also, self._loop
        if self.cut:
            self._stalled += 1
            return
        at_ns = link.arrival_ns(loop.now_ns, ordered=True) + also.delay_ns
        if also.lose:
            at_ns += also.retransmitted_ns()
        if at_ns <= self._last_ns:
            at_ns = self._last_ns + 1
        self._last_ns = at_ns
        loop.at(at_ns, self._arrive)

    def _arrive(self) -> None:
        if not self._open:
            return
        if self.cut:
            self._stalled += 1
        else:
            step, self._loop.cause = self._steps.popleft()
            self._loop.began = self._loop.cause
            step()

    def go_on(self) -> None:
        """Sends stalled steps again after a heal."""
        stalled, self._stalled = self._stalled, 0
        for _ in range(stalled):
            self._depart()

    def close(self) -> None:
        """Drops all steps in flight."""
        self._open = False
        self._steps.clear()
