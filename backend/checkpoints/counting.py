"""How many operations came after each checkpoint, for a page that asks again and again: what was counted once is not read again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

Count = Callable[[str, int], Awaitable[tuple[int, int]]]
"""(group, sn) → groups and operations in its journal behind that sn."""


class Counting:
    """Sums by barrier. A group that is dropped by a failover before it is committed stays counted: whoever must know asks anew."""

    def __init__(self) -> None:
        self._incarnation = 0
        self._known: dict[tuple[str, int], tuple[int, int]] = {}

    async def behind(self, incarnation: int, barriers: dict[str, int], count: Count) -> tuple[int, int]:
        """(groups, operations) behind barriers, by group. What was counted in an earlier incarnation is void."""
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
