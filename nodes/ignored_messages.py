"""Ignored messages as events. A late message is ordinary, so that one event a second is reported at most for each sender and kind."""

from __future__ import annotations

from nodes.trace.events import Ignored
from nodes.world import World

AGAIN_NS = 1_000_000_000
KNOWN_MAX = 256


class Ignoring:
    """Reports messages that have no effect here."""

    def __init__(self, world: World):
        self._world = world
        self._reported_ns: dict[tuple[str, str], int] = {}

    def report(self, peer: str, message: object, reason: str) -> None:
        key = (peer, type(message).__name__)
        now_ns = self._world.clock.monotonic_ns()
        reported_ns = self._reported_ns.get(key)
        if reported_ns is not None and now_ns - reported_ns < AGAIN_NS:
            return
        if len(self._reported_ns) >= KNOWN_MAX:
            self._reported_ns.clear()
        self._reported_ns[key] = now_ns
        self._world.trace.emit(Ignored(*key, reason))
