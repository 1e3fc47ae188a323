"""Numbers of operations after each checkpoint, for a page that polls: journals that were counted are not read again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

Count = Callable[[str, int], Awaitable[tuple[int, int]]]
"""Maps (group, sn) to the numbers of journal groups and operations after that sn."""


class Counting:
    """Sums by barrier. A journal group that a failover drops before its commit stays counted; an exact answer needs a new count."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        """Held by who counts: two at a time would count the same."""
        self._incarnation = 0
        self._known: dict[tuple[str, int], tuple[int, int]] = {}

    async def behind(self, incarnation: int, barriers: dict[str, int], count: Count) -> tuple[int, int]:
        """Journal groups and operations after the barriers, by group. Counts of an earlier incarnation are void."""
        if incarnation != self._incarnation:
            self._incarnation = incarnation
            self._known.clear()
        groups = operations = 0
        for group, sn in barriers.items():
            known = self._known.get((group, sn), (0, 0))
            more = await count(group, sn + known[0])
            known = (known[0] + more[0], known[1] + more[1])
            if incarnation == self._incarnation:
                self._known[group, sn] = known
            groups += known[0]
            operations += known[1]
        return groups, operations
