"""The lamps: all checks over one stream of events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.config import ClusterConfig
from nodes.families import Family, family_named
from nodes.invariants.atomic import Atomic
from nodes.invariants.barrier_blocks import BarrierBlocks
from nodes.invariants.blocks_kept import BlocksKept
from nodes.invariants.by_stamp import ByStamp
from nodes.invariants.checker import SECOND, Check
from nodes.invariants.dense_journal import DenseJournal
from nodes.invariants.exactly_once import ExactlyOnce
from nodes.invariants.journals import Journals
from nodes.invariants.linearisable import Linearisable
from nodes.invariants.no_lost_write import NoLostWrite
from nodes.invariants.one_active import OneActive
from nodes.invariants.one_effect import OneEffect
from nodes.invariants.one_primary_view import OnePrimaryView
from nodes.invariants.same_order import SameOrder
from nodes.invariants.same_state import SameState
from nodes.invariants.up_to_barrier import UpToBarrier
from nodes.trace.base import Event
from nodes.trace.checkpoints import TakenBack
from nodes.trace.events import Called, CheckFailed, RoleChanged, Stamped

Step = Callable[[Stamped, Any], None]


NAMES = tuple(
    check.name for check in (OneActive, NoLostWrite, ExactlyOnce, SameState, DenseJournal, Linearisable)
)
NAMES_OF_ALL = (*NAMES, Atomic.name, UpToBarrier.name, BlocksKept.name, SameOrder.name, OnePrimaryView.name)
"""In the order of the page: the last five where there are several groups, checkpoints, data nodes, symmetric members."""


UNABLE = (
    "not checked since the cluster went back to a checkpoint: answers are compared with a model that is built from the first "
    "call on, and none of the barrier's moment was kept"
)


class GroupChecks:
    """The checks that concern one replica group alone."""

    def __init__(self, linearisable: bool, family: Family) -> None:
        journals = Journals()
        dense = DenseJournal(journals)
        leads = [] if family.asked == "anywhere" else [OneActive(family.asked == "reads anywhere")]
        self.checks: list[Check] = [
            *leads,
            NoLostWrite(journals),
            ExactlyOnce(journals),
            SameState(),
            dense,
            *([SameOrder(), OnePrimaryView()] if family.replication == "symmetric" else []),
        ]
        if linearisable:
            self.checks.append(Linearisable(journals))
        self.steps: dict[type[Event], list[Step]] = {}
        others = [check.steps for check in self.checks if check is not dense]
        for table in (dense.steps, journals.steps, *others):
            for kind, step in table.items():
                self.steps.setdefault(kind, []).append(step)


class Era:
    """The checks of one incarnation of the cluster: a recovery sets aside what came after its barrier, and begins anew."""

    def __init__(self, cluster: ClusterConfig, number: int, home: dict[str, str]) -> None:
        several = len(cluster.groups) > 1
        family = family_named(cluster.protocol)
        self.groups = {group.name: GroupChecks(not several, family) for group in cluster.groups}
        self.only = next(iter(self.groups.values())) if not several else None
        self.shared: list[Check] = []
        if several:
            names = {group.number: group.name for group in cluster.groups}
            self.shared = [OneEffect(), ByStamp(home), Atomic(names)]
        self.checks = [check for group in self.groups.values() for check in group.checks] + self.shared
        for check in self.checks:
            if number and isinstance(check, Linearisable | ByStamp):
                check.unable = UNABLE


class Lamps:
    """Live verdicts on a cluster: give it every event, in each server's own order."""

    def __init__(self, cluster: ClusterConfig) -> None:
        self._cluster = cluster
        self._home = {name: group.name for group in cluster.groups for name in group.members}
        """Server to its group."""
        self._eras = [Era(cluster, 0, self._home)]
        """By incarnation, counted from the one in which the check began."""
        self._lives_in: dict[str, int] = {}
        """The era of each server that has been taken back."""
        self._began: dict[str, list[tuple[int, int]]] = {}
        """By group: (epoch, era) with which each era but the first began."""
        self._incarnations: list[int] = []
        """Of each era but the first."""
        self._barrier = UpToBarrier({group.number: group.name for group in cluster.groups})
        self._lasting: list[Check] = [self._barrier]
        """What goes on over a recovery: blocks stay where they are."""
        if cluster.data.nodes:
            kept = BlocksKept()
            self._lasting += [kept, BarrierBlocks(kept.replicas)]
        self._lasting_steps: dict[type[Event], list[Step]] = {}
        for check in self._lasting:
            for kind, step in check.steps.items():
                self._lasting_steps.setdefault(kind, []).append(step)
        self._look_ns = 0

    def on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        kind = type(event)
        if isinstance(event, TakenBack):
            self._take_back(stamped.server, event)
        era = self._eras[self._era_of(stamped) if len(self._eras) > 1 else 0]
        group = era.only or era.groups.get(self._group_of(stamped))
        if group is not None:
            for step in group.steps.get(kind, ()):
                step(stamped, event)
        for check in era.shared:
            check.on_event(stamped)
        for step in self._lasting_steps.get(kind, ()):
            step(stamped, event)
        if stamped.at_ns > self._look_ns:
            self._look_ns = stamped.at_ns + SECOND
            for check in (*self._eras[-1].checks, *self._lasting):
                check.on_time(stamped.at_ns)

    def _take_back(self, server: str, event: TakenBack) -> None:
        if event.incarnation not in self._incarnations:
            self._incarnations.append(event.incarnation)
            self._eras.append(Era(self._cluster, len(self._eras), self._home))
        era = self._lives_in[server] = 1 + self._incarnations.index(event.incarnation)
        began = self._began.setdefault(event.group, [])
        if (event.epoch, era) not in began:
            began.append((event.epoch, era))

    def _era_of(self, stamped: Stamped) -> int:
        """A call belongs to the era in whose epochs it was answered; what clients tell else, to the present one."""
        event = stamped.event
        if isinstance(event, Called):
            began = self._began.get(self._home.get(event.server, ""), [])
            return max((era for epoch, era in began if epoch <= event.epoch), default=0)
        if stamped.server in self._home:
            return self._lives_in.get(stamped.server, 0)
        return len(self._eras) - 1

    def _group_of(self, stamped: Stamped) -> str:
        """A call belongs to the group that answered it; a server that was added tells its group itself."""
        event = stamped.event
        if isinstance(event, Called):
            return self._home.get(event.server, "")
        name = self._home.get(stamped.server)
        if name is None and isinstance(event, RoleChanged | TakenBack):
            name = self._home[stamped.server] = event.group
        return name or ""

    def finish(self) -> None:
        """No more events come. What still waits for its counterpart fails, unless it was set aside with its incarnation."""
        for check in [*self._eras[-1].checks, *self._lasting]:
            check.finish()

    @property
    def _checks(self) -> list[Check]:
        """The barrier has a lamp as soon as there are checkpoints."""
        marked = self._barrier.checked or self._barrier.failures
        lasting = [check for check in self._lasting if marked or check.name != self._barrier.name]
        return [*(check for era in self._eras for check in era.checks), *lasting]

    @property
    def failures(self) -> list[CheckFailed]:
        """All that was found wrong, by check."""
        return [failure for check in self._checks for failure in check.failures]

    def paths(self) -> dict[str, bool] | None:
        """Every path that must be there now, and whether it is a directory; None where no check can say."""
        for check in self._eras[-1].checks:
            if isinstance(check, Linearisable | ByStamp) and not check.unable:
                return check.paths()
        return None

    def lamps(self) -> list[dict[str, Any]]:
        """One row for each invariant: grey when nothing could be checked, red with the first failure."""
        by_name: dict[str, list[Check]] = {}
        for check in self._checks:
            by_name.setdefault(check.name, []).append(check)
        return [_lamp(checks) for checks in by_name.values()]


def _lamp(checks: list[Check]) -> dict[str, Any]:
    """Of one invariant, over all groups."""
    failures = [failure for check in checks for failure in check.failures]
    first = failures[0] if failures else None
    unable = next((check.unable for check in checks if check.unable), "")
    checked = sum(check.checked for check in checks)
    if first is not None:
        state, explanation = "red", first.explanation
    elif unable:
        state, explanation = "grey", unable
    else:
        state, explanation = ("green", "") if checked else ("grey", "nothing has been checked yet")
    return {
        "invariant": checks[0].name,
        "meaning": checks[0].meaning,
        "state": state,
        "checked": checked,
        "explanation": explanation,
        "evidence": [list(each) for each in first.evidence] if first is not None else [],
    }


def start(cluster: ClusterConfig) -> Lamps:
    return Lamps(cluster)
