"""A server's reading of an image, in families whose servers copy one for the entries that others have pruned."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from nodes.config import MILLISECOND
from nodes.scope import Scope
from nodes.world import World

AGAIN_NS = 100 * MILLISECOND


class ImageReading:
    """One reading at a time, until the server needs no more image."""

    def __init__(self, world: World, before: Callable[[], None]):
        """`before` stops an image in progress, because the namespace is about to be replaced."""
        self._world = world
        self._before = before
        self._scope: Scope | None = None

    @property
    def busy(self) -> bool:
        return self._scope is not None and self._scope.busy

    def begin(self, attempt: Callable[[], Awaitable[bool]]) -> None:
        """Starts to read an image, unless one is being read. `attempt` tries once and returns whether no image is needed any more; it raises
        OSError of this disk."""
        if not self.busy:
            self._before()
            self._scope = self._world.scope.child("reading an image")
            self._scope.spawn(self._read(attempt), "reading an image")

    def stop(self) -> None:
        if self._scope is not None:
            self._scope.close()
            self._scope = None

    async def _read(self, attempt: Callable[[], Awaitable[bool]]) -> None:
        while not await attempt():
            await self._world.clock.sleep(AGAIN_NS)
