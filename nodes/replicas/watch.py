"""A server's watch of the coordination service."""

from __future__ import annotations

from collections.abc import Callable


class OneShotWatch:
    """A watcher that the next read arms and that fires once."""

    def __init__(self, fired: Callable[[], None], once: bool = False):
        self._fired = fired
        self._once = once
        """The mutation `forgotten_watch`: a watch that fired is not set again in this session."""
        self._armed = False

    def arm(self) -> Callable[[str], None] | None:
        """The callback for the next read, or None when the watch is still armed."""
        if self._armed:
            return None
        self._armed = True
        return self._fire

    def _fire(self, path: str) -> None:
        if not self._once:
            self._armed = False
        self._fired()

    def forget(self) -> None:
        """Disarms the watch: its session has gone, with all watches."""
        self._armed = False
