"""Group commit: no answer leaves the server before the changes that it may show are durable."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial

from nodes.coordination.log import Logged, TransactionLog, image_bytes
from nodes.coordination.tree import ZnodeTree

Step = Callable[[], None]


class CommitQueue:
    """Changes queue while one sync is under way; the next sync takes all of them."""

    def __init__(self, tree: ZnodeTree, log: TransactionLog, on_failure: Callable[[OSError], None]):
        self._tree = tree
        self._log = log
        self._on_failure = on_failure
        self._queued: list[Logged] = []
        self._made = 0
        self._held: deque[tuple[int, Step]] = deque()
        self._syncing: asyncio.Task[None] | None = None
        self._settling: list[asyncio.Future[None]] = []

    def append(self, change: Logged) -> None:
        self._queued.append(change)
        self._made += 1
        if self._syncing is None:
            self._syncing = asyncio.get_running_loop().create_task(self._sync(), name="commits")

    def after(self, step: Step) -> None:
        """Runs the step, in order with all others, once every change made so far is durable."""
        if self._syncing is None:
            step()
        else:
            self._held.append((self._made, step))

    async def _sync(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._queued:
                batch, self._queued = self._queued, []
                made = self._made
                if self._log.full:
                    await loop.run_in_executor(None, self._log.begin, image_bytes(self._tree))
                else:
                    await loop.run_in_executor(None, self._log.write, batch)
                self._release(made)
        except OSError as error:
            self._on_failure(error)
            for settled in self._settling:
                _end(settled)
            return
        self._syncing = None
        self._release(self._made)

    def _release(self, made: int) -> None:
        while self._held and self._held[0][0] <= made:
            self._held.popleft()[1]()

    async def settled(self) -> None:
        """Returns when all changes made so far are durable, or when the disk has failed."""
        if self._syncing is None or self._syncing.done():
            return
        settled: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._settling.append(settled)
        self._held.append((self._made, partial(_end, settled)))
        await settled

    async def ended(self) -> None:
        """Returns when no change is being written any more. No further ones may be made."""
        if self._syncing is not None:
            await self._syncing


def _end(settled: asyncio.Future[None]) -> None:
    if not settled.done():
        settled.set_result(None)
