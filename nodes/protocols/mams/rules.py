"""The decisions of election and renewing, apart from the procedures that carry them out: pure, and replaceable as a whole."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from nodes.replicas import election
from nodes.replicas.view import Draw
from nodes.wire.messages import Mark


class ElectionRules:
    """Who leads next, and what it must know before it serves (CFS §4.2.1, §4.2.2; safety rules 1 to 3)."""

    def winner(self, draws: Mapping[str, Draw], drawing: list[str]) -> str:
        """The server of `drawing` that takes the lock; empty when none has drawn."""
        return election.winner(draws, drawing)

    def next_epoch(self, last: int, promised: int) -> int:
        """The epoch of the new leader: `last` is that of the view, `promised` the highest that this server has promised."""
        return max(last, promised) + 1

    def refuses(self, promised: int, epoch: int) -> bool:
        """Whether a server that promised one epoch refuses a message of another."""
        return epoch < promised

    def read_quorum(self, members: int) -> int:
        """Number of members, the elected among them, that must have promised and reported their journals."""
        return members - (members // 2 + 1) + 1

    def newest(self, ends: Mapping[str, Mark], own: str) -> str:
        """The server whose journal is adopted, by the marks at which the journals end; `own` is the elected."""
        best = max(order(mark) for mark in ends.values())
        equal = sorted(name for name, mark in ends.items() if order(mark) == best)
        return own if own in equal else equal[0]


class Waiting(NamedTuple):
    """A junior that waits to be renewed."""

    sessions: int
    """Renewing sessions since it was last in step."""
    common_sn: int
    """Sn up to which its journal equals the active's."""


class RenewingRules:
    """Which junior is renewed, how it catches up, and when it counts (CFS §4.2.3; safety rules 3 and 22)."""

    def next_junior(self, waiting: Mapping[str, Waiting]) -> str:
        """The junior of the next session, out of at least one."""
        return min(waiting, key=lambda name: (waiting[name].sessions, -waiting[name].common_sn, name))

    def reads_from_pool(self, gap: int, direct: int, pruned: bool) -> bool:
        """Whether the junior first reads image and journal from the pool. A gap of up to `direct` committed groups the active sends by itself,
        unless it has `pruned` some of them."""
        return gap > direct or pruned

    def wants_image(self, gap: int, image_gap: int, pruned: bool) -> bool:
        """Whether the junior begins with an image, because groups are pruned or reading them takes longer."""
        return gap > image_gap or pruned

    def in_step(self, last_sn: int, matched_sn: int, confirmed: bool) -> bool:
        """Whether the junior has every group of the active. `confirmed`: it has acknowledged `matched_sn` in this session."""
        return confirmed and matched_sn >= last_sn

    def may_count(self, members: Collection[str], holders: Collection[str]) -> bool:
        """Whether a configuration of these members may stand, when `holders` have every acknowledged group on disk."""
        return sum(member in holders for member in members) >= len(members) // 2 + 1


class MamsRules(NamedTuple):
    election: ElectionRules
    renewing: RenewingRules


RULES = MamsRules(ElectionRules(), RenewingRules())


def order(mark: Mark) -> tuple[int, int, int]:
    """Later journals have larger values (safety rules 1 and 18)."""
    return mark.incarnation, mark.epoch, mark.sn
