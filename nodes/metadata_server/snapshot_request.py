"""A person's order for an image. Pure."""

from __future__ import annotations

TRIES = 3
"""Orders to standbys before the person reads that none of them took an image."""


class SnapshotRequest:
    """The order stands until an image arrives that was ordered after it, or no server can take one. It ends with the tenure of the active that
    received it."""

    def __init__(self) -> None:
        self.stands = False
        self._after = 0
        self._tries = 0
        self._last = ""

    def begin(self, orders: int) -> None:
        """Begins the wish. `orders`: the number of orders so far; an image of one of these may be older than the wish."""
        self.stands, self._after, self._tries, self._last = True, orders, 0, ""

    def on_order(self, server: str) -> None:
        self._tries += 1
        self._last = f"{server} fell silent"

    def on_image(self, server: str, order: int, taken: bool) -> None:
        """A standby's answer to the order of this number."""
        if taken and order > self._after:
            self.stands = False
        elif not taken:
            self._last = f"{server} took none"

    def failure(self, standbys: bool) -> str:
        """Reason why no image can be had while none is being taken; empty when the image is to be ordered again."""
        if not self.stands or (standbys and self._tries < TRIES):
            return ""
        self.stands = False
        why = [f"{self._tries} orders came to nothing, at last {self._last}"] if self._tries else []
        if not standbys:
            why.append("no standby is in step that could take one")
        return f"the image that a person ordered is not taken: {'; '.join(why)}"
