"""The groups that each member of one view reports to hold, compared by (epoch, sn, CRC) with this member's journal (safety rule 24)."""

from __future__ import annotations

from collections import deque

from nodes.protocols.symmetric.stability import Stability
from nodes.replicas.log import ReplicaLog
from nodes.wire.messages import Mark

EARLY_MAX = 256
"""Most reports of one member that wait until this member's journal reaches as far."""


class Holdings:
    """Credits members with groups that this journal has too, and this member with the groups delivered before its fence."""

    def __init__(self, log: ReplicaLog, stability: Stability, own: int, size: int, start: Mark):
        self._log = log
        self._stability = stability
        self._own = own
        self._early: list[deque[Mark]] = [deque() for _ in range(size)]
        self.own = start
        """Mark that this member reports: the last group that it has delivered in this view and holds durably."""
        self.fence: Mark | None = None
        """Last group that this member has delivered in its view; None while it still delivers."""

    def set_fence(self, at: Mark | None = None) -> None:
        """Groups after the fence are not delivered in this view. The fence is `at`, or the end of the journal."""
        if self.fence is None:
            self.fence = at or self._log.last

    def reported(self, member: int, mark: Mark) -> bool | None:
        """Whether the report is new; None when this journal has a different group there."""
        if mark.sn <= self._stability.held_by(member):
            return False
        if mark.sn <= self._log.last.sn:
            return self._credit(member, mark)
        early = self._early[member]
        if early and mark.sn <= early[-1].sn:
            return False
        if len(early) >= EARLY_MAX:
            early.pop()
        early.append(mark)
        return False

    def _credit(self, member: int, mark: Mark) -> bool | None:
        if not self._same(mark):
            return None
        return self._stability.hold(member, mark.sn)

    def _same(self, mark: Mark) -> bool:
        return self._log.holds(mark)

    def grown(self) -> list[int]:
        """The members that are credited with earlier reports, now that this member's journal has grown."""
        last_sn = self._log.last.sn
        credited = []
        for member, early in enumerate(self._early):
            while early and early[0].sn <= last_sn:
                if self._credit(member, early.popleft()):
                    credited.append(member)
        return credited

    def synced(self, sn: int) -> bool:
        """This member's journal is durable up to sn. Returns False when that is nothing new in this view."""
        fence = self.fence
        if fence is not None:
            if not self._log.holds(fence):
                return False
            sn = min(sn, fence.sn)
        return self._synced_up_to(sn)

    def _synced_up_to(self, sn: int) -> bool:
        mark = self._log.mark_at(sn)
        if mark is None or not self._stability.hold(self._own, sn):
            return False
        self.own = mark
        return True


class HoldingsBySn(Holdings):
    """The mutation `settled_groups_counted`: compares serial numbers only and counts groups that an unfinished change wrote."""

    def _same(self, mark: Mark) -> bool:
        return True

    def synced(self, sn: int) -> bool:
        return self._synced_up_to(sn)


def holdings_of(
    by_sn: bool, log: ReplicaLog, stability: Stability, own: int, size: int, start: Mark
) -> Holdings:
    return (HoldingsBySn if by_sn else Holdings)(log, stability, own, size, start)
