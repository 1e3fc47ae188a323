"""The checks of one incarnation of the cluster: those of each group, and those over all groups."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from nodes.config import ClusterConfig
from nodes.families import Family, family_named
from nodes.invariants.atomicity import Atomic
from nodes.invariants.checker import Check
from nodes.invariants.dense_journal import DenseJournal
from nodes.invariants.exactly_once import ExactlyOnce
from nodes.invariants.journals import GroupJournals
from nodes.invariants.linearisability import Linearisable
from nodes.invariants.no_lost_write import NoLostWrite
from nodes.invariants.one_active import OneActive
from nodes.invariants.one_effect import OneEffect
from nodes.invariants.one_primary_view import OnePrimaryView
from nodes.invariants.same_order import SameOrder
from nodes.invariants.same_state import SameState
from nodes.invariants.stamp_order import ByStamp
from nodes.trace.base import Event
from nodes.trace.events import Stamped

Step = Callable[[Stamped, Any], None]


class GroupChecks:
    def __init__(
        self,
        members: int,
        family: Family,
        groups: int,
        linearisable: Callable[[GroupJournals], Linearisable] | None,
    ) -> None:
        self.journals = journals = GroupJournals()
        dense = DenseJournal(journals)
        self.exactly_once = ExactlyOnce(journals)
        same_state = SameState()
        same_state.always = members > 1
        leads = [] if family.asked == "anywhere" else [OneActive(family.reads_anywhere(groups))]
        self.checks: list[Check] = [
            *leads,
            NoLostWrite(journals),
            self.exactly_once,
            same_state,
            dense,
            *([SameOrder(), OnePrimaryView()] if family.replication == "symmetric" else []),
        ]
        self.linearisable = linearisable(journals) if linearisable is not None else None
        if self.linearisable is not None:
            self.checks.append(self.linearisable)
        self.steps: dict[type[Event], list[Step]] = {}
        others = [check.steps for check in self.checks if check is not dense]
        for table in (dense.steps, journals.steps, *others):
            for kind, step in table.items():
                self.steps.setdefault(kind, []).append(step)


class IncarnationChecks:
    """The checks of one incarnation of the cluster. A recovery quarantines everything behind its barrier, so that new checks begin."""

    def __init__(
        self,
        cluster: ClusterConfig,
        home: dict[str, str],
        incarnations: list[IncarnationChecks] | None = None,
        checkpoint: str = "",
        next_sn: int = 0,
    ) -> None:
        """`incarnations`: the earlier incarnations, one of which made the checkpoint.

        `next_sn`: the first sn of this one in a cluster of one group; 0 when it follows on the barrier.
        """
        several = len(cluster.groups) > 1
        family = family_named(cluster.protocol)
        begins = (
            None
            if several
            else partial(_alone_from, incarnations=incarnations or [], checkpoint=checkpoint, next_sn=next_sn)
        )
        self.groups = {
            group.name: GroupChecks(len(group.members), family, len(cluster.groups), begins)
            for group in cluster.groups
        }
        self.only = next(iter(self.groups.values())) if not several else None
        self.shared: list[Check] = []
        self.by_stamp: ByStamp | None = None
        if several:
            names = {group.number: group.name for group in cluster.groups}
            self.by_stamp = _by_stamp_from(home, incarnations or [], checkpoint)
            self.shared = [OneEffect(), self.by_stamp, Atomic(names)]
        self.checks = [check for group in self.groups.values() for check in group.checks] + self.shared
        if incarnations:
            self._inherit(incarnations[-1])

    @property
    def has_checkpoint(self) -> bool:
        """Whether another incarnation can begin from one of its checkpoints."""
        alone = self.only.linearisable if self.only is not None else None
        return any(check is not None and check.has_checkpoint for check in (alone, self.by_stamp))

    def verdicts(self) -> list[Check]:
        """What the checks have found, without their models."""
        if self.by_stamp is not None:
            self.by_stamp.catch_up()
        return [check.verdict() for check in self.checks]

    def _inherit(self, before: IncarnationChecks) -> None:
        if self.by_stamp is not None and before.by_stamp is not None:
            self.by_stamp.inherit(before.by_stamp)
        elif self.only is not None and before.only is not None:
            mine, its = self.only.linearisable, before.only.linearisable
            if mine is not None and its is not None:
                mine.inherit(its)


UNKNOWN_BARRIER = (
    "cannot go on: the cluster went back to a barrier that was written before the check began, or long ago"
)


def _alone_from(
    journals: GroupJournals, incarnations: list[IncarnationChecks], checkpoint: str, next_sn: int
) -> Linearisable:
    """The check of a cluster with one group. It continues from a barrier of one of the earlier incarnations, if there are any."""
    for checked in reversed(incarnations):
        before = checked.only.linearisable if checked.only is not None else None
        sn = None if before is None else before.barrier_sn(checkpoint)
        if before is not None and sn is not None:
            return Linearisable(journals, partial(before.base_of, checkpoint), next_sn - 1 if next_sn else sn)
    check = Linearisable(journals)
    check.unable = UNKNOWN_BARRIER if incarnations else ""
    return check


def _by_stamp_from(home: dict[str, str], incarnations: list[IncarnationChecks], checkpoint: str) -> ByStamp:
    """The check of a cluster with several groups. It continues from a barrier of one of the earlier incarnations, if there are any."""
    for checked in reversed(incarnations):
        if checked.by_stamp is not None and checked.by_stamp.has_barrier(checkpoint):
            return ByStamp(home, partial(checked.by_stamp.base_of, checkpoint))
    check = ByStamp(home)
    check.unable = UNKNOWN_BARRIER if incarnations else ""
    return check
