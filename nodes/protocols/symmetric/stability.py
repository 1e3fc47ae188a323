"""The groups of the total order that every member holds, and those that may be shown (safety rules 6, 7, 20). Pure."""

from __future__ import annotations

from nodes.config import Holes


class Stability:
    """The sn up to which each member of one view durably holds all groups, as far as known."""

    def __init__(self, own: int, size: int, start_sn: int, holes: Holes):
        self._own = own
        self._held = [start_sn] * size
        self._not_uniform = holes.fast_not_uniform
        self._before_stable = holes.answer_before_stable

    @property
    def own_sn(self) -> int:
        return self._held[self._own]

    def hold(self, member: int, sn: int) -> bool:
        """Credits a member with all groups up to sn. Returns False when that was known."""
        if sn <= self._held[member]:
            return False
        self._held[member] = sn
        return True

    def held_by(self, member: int) -> int:
        return self._held[member]

    @property
    def shown_sn(self) -> int:
        """The sn up to which every member of the view holds the groups, so that they may be applied, visible and answered.

        So a read at any member sees every group answered anywhere, and any single survivor has all shown groups.
        """
        if self._not_uniform:
            return self.own_sn
        if self._before_stable:
            return min(self.own_sn, sorted(self._held)[(len(self._held) - 1) // 2])
        return min(self._held)
