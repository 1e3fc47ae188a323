"""Message events for the page: a bounded ring that counts dropped events; off unless the page reads it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from nodes.trace.present import Caused

RING = 4096


class MessageRing:
    def __init__(self, server: str, now_ns: Callable[[], int]):
        self.on = False
        self._server = server
        self._now_ns = now_ns
        self._events: deque[list[Any]] = deque()
        self._dropped = 0

    def sent(self, to: str, caused: Caused, size: int) -> None:
        """Records sent messages. `size` is that of their frame in bytes, of which each message gets its share."""
        now, count = self._now_ns(), len(caused[0])
        for message, (server, cause) in zip(*caused, strict=True):
            if len(self._events) == RING:
                self._dropped += 1
                continue
            reported = ["MessageSent", to, type(message).__name__, size // count]
            self._events.append([self._server, 0, 0, now, cause, reported, server])

    def turn(self, on: bool) -> None:
        if on == self.on:
            return
        self.on = on
        self._events.clear()
        self._dropped = 0

    def take(self) -> dict[str, Any]:
        """The events since the last call, and the number of dropped ones."""
        taken = {"messages": list(self._events), "dropped": self._dropped}
        self._events.clear()
        self._dropped = 0
        return taken
