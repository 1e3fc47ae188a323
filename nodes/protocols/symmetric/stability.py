"""How far every member holds the total order, and what may be shown of it (safety rules 6, 7, 20): pure."""

from __future__ import annotations

from nodes.config import Holes


class Stability:
    """The sn up to which each member of one view is known to hold all groups durably."""

    def __init__(self, own: int, size: int, start_sn: int, holes: Holes):
        self._own = own
        self._held = [start_sn] * size
        self._not_uniform = holes.fast_not_uniform
        self._before_stable = holes.answer_before_stable

    @property
    def own_sn(self) -> int:
        return self._held[self._own]

    def hold(self, member: int, sn: int) -> bool:
        """That member holds everything up to sn; False when that was known."""
        if sn <= self._held[member]:
            return False
        self._held[member] = sn
        return True

    def held_by(self, member: int) -> int:
        return self._held[member]

    @property
    def shown_sn(self) -> int:
        """Up to here groups are applied, visible and answered: every member of the view holds them.

        So a read at any member comes behind what was answered anywhere, and each single survivor has all that was shown.
        """
        if self._not_uniform:
            return self.own_sn
        if self._before_stable:
            return min(self.own_sn, sorted(self._held)[(len(self._held) - 1) // 2])
        return min(self._held)
