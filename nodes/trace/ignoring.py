"""What a server passes over, as events: a word that comes late is ordinary, so each sender's are told once a second at most, by kind."""

from __future__ import annotations

from nodes.trace.events import Ignored
from nodes.world import World

AGAIN_NS = 1_000_000_000
KNOWN_MAX = 256


class Ignoring:
    """Tells of messages that have no effect here."""

    def __init__(self, world: World):
        self._world = world
        self._told_ns: dict[tuple[str, str], int] = {}

    def tell(self, peer: str, message: object, reason: str) -> None:
        key = (peer, type(message).__name__)
        now_ns = self._world.clock.monotonic_ns()
        told_ns = self._told_ns.get(key)
        if told_ns is not None and now_ns - told_ns < AGAIN_NS:
            return
        if len(self._told_ns) >= KNOWN_MAX:
            self._told_ns.clear()
        self._told_ns[key] = now_ns
        self._world.trace.emit(Ignored(*key, reason))
