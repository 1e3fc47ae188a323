"""A watch of the coordination service as a server holds it."""

from __future__ import annotations

from collections.abc import Callable


class Watch:
    """One of a server's watchers: armed by the next read, fires once."""

    def __init__(self, fired: Callable[[], None], once: bool = False):
        self._fired = fired
        self._once = once
        """The mutation `forgotten_watch`: what fired is not set again in this session."""
        self._armed = False

    def arm(self) -> Callable[[str], None] | None:
        """The callback to hand to the read, or None when it still waits."""
        if self._armed:
            return None
        self._armed = True
        return self._fire

    def _fire(self, path: str) -> None:
        if not self._once:
            self._armed = False
        self._fired()

    def forget(self) -> None:
        """After the session has gone, with all its watches."""
        self._armed = False
