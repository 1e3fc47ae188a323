"""One direction of one TCP connection on simulated links: late or stalled, never lost, never out of order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from nodes.sim.links import Link, Links
from nodes.sim.loop import Loop

MILLISECOND = 1_000_000
RETRANSMIT_NS = 200 * MILLISECOND
"""The first retransmission time-out; each further one is twice as long."""
RETRANSMISSIONS = 6
REORDERED_NS = 5 * MILLISECOND


class Stream:
    """Delivers steps in the order of sending. What is cut waits for a heal; loss and damage cost retransmissions, and what comes behind waits.

    A segment that is duplicated has no effect; one that is overtaken holds up those that overtook it.
    """

    def __init__(self, loop: Loop, links: Links, way: tuple[str, str], also: tuple[str, str] | None = None):
        self._loop = loop
        self._rng = links.rng
        self._link = links.of(*way)
        self._also = links.of(*also) if also else Link()
        """Another name of the same way: what is wrong with either is wrong with it."""
        self._steps: deque[Callable[[], None]] = deque()
        """In flight or stalled, oldest first."""
        self._stalled = 0
        self._last_ns = 0
        self._open = True

    def send(self, step: Callable[[], None]) -> None:
        self._steps.append(step)
        self._depart()

    def _depart(self) -> None:
        link, also, loop = self._link, self._also, self._loop
        if link.cut or also.cut:
            self._stalled += 1
            return
        at_ns = link.arrival_ns(loop.now_ns, self._rng, ordered=True) + also.delay_ns
        if link.lose or link.damage or link.reorder:
            at_ns += self._held_up_ns(link)
        if also.lose or also.damage or also.reorder:
            at_ns += self._held_up_ns(also)
        if at_ns <= self._last_ns:
            at_ns = self._last_ns + 1
        self._last_ns = at_ns
        loop.at(at_ns, self._arrive)

    def _held_up_ns(self, link: Link) -> int:
        rng, held_ns, timeout_ns = self._rng, 0, RETRANSMIT_NS
        for _ in range(RETRANSMISSIONS):
            if rng.random() >= link.lose + link.damage:
                break
            held_ns += timeout_ns
            timeout_ns *= 2
        if rng.random() < link.reorder:
            held_ns += int(rng.random() * REORDERED_NS)
        return held_ns

    def _arrive(self) -> None:
        if not self._open:
            return
        if self._link.cut or self._also.cut:
            self._stalled += 1
        else:
            self._steps.popleft()()

    def go_on(self) -> None:
        """After a heal: what was stalled is on its way again."""
        stalled, self._stalled = self._stalled, 0
        for _ in range(stalled):
            self._depart()

    def close(self) -> None:
        """What is on its way is lost."""
        self._open = False
        self._steps.clear()
