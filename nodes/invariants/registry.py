"""The lamps: all checks over one stream of events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.config import ClusterConfig
from nodes.invariants.atomic import Atomic
from nodes.invariants.blocks_kept import BlocksKept
from nodes.invariants.by_stamp import ByStamp
from nodes.invariants.checker import SECOND, Check
from nodes.invariants.dense_journal import DenseJournal
from nodes.invariants.exactly_once import ExactlyOnce
from nodes.invariants.journals import Journals
from nodes.invariants.linearisable import Linearisable
from nodes.invariants.no_lost_write import NoLostWrite
from nodes.invariants.one_active import OneActive
from nodes.invariants.same_state import SameState
from nodes.trace.base import Event
from nodes.trace.events import Called, CheckFailed, RoleChanged, Stamped

Step = Callable[[Stamped, Any], None]


NAMES = tuple(
    check.name for check in (OneActive, NoLostWrite, ExactlyOnce, SameState, DenseJournal, Linearisable)
)
NAMES_OF_ALL = (*NAMES, Atomic.name, BlocksKept.name)
"""In the order of the page; the last but one where there are several groups, the last one where there are data nodes."""


class GroupChecks:
    """The checks that concern one replica group alone."""

    def __init__(self, linearisable: bool) -> None:
        journals = Journals()
        dense = DenseJournal(journals)
        self.checks: list[Check] = [
            OneActive(),
            NoLostWrite(journals),
            ExactlyOnce(journals),
            SameState(),
            dense,
        ]
        if linearisable:
            self.checks.append(Linearisable(journals))
        self.steps: dict[type[Event], list[Step]] = {}
        others = [check.steps for check in self.checks if check is not dense]
        for table in (dense.steps, journals.steps, *others):
            for kind, step in table.items():
                self.steps.setdefault(kind, []).append(step)


class Lamps:
    """Live verdicts on a cluster: give it every event, in each server's own order."""

    def __init__(self, cluster: ClusterConfig) -> None:
        several = len(cluster.groups) > 1
        self._home = {name: group.name for group in cluster.groups for name in group.members}
        """Server to its group."""
        self._groups = {group.name: GroupChecks(not several) for group in cluster.groups}
        self._only = next(iter(self._groups.values())) if not several else None
        self._shared: list[Check] = []
        if several:
            names = {group.number: group.name for group in cluster.groups}
            self._shared = [ByStamp(self._home), Atomic(names)]
        if cluster.data.nodes:
            self._shared.append(BlocksKept())
        self._checks = [check for group in self._groups.values() for check in group.checks] + self._shared
        self._look_ns = 0

    def on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        group = self._only or self._group_of(stamped)
        if group is not None:
            for step in group.steps.get(type(event), ()):
                step(stamped, event)
        for check in self._shared:
            check.on_event(stamped)
        if stamped.at_ns > self._look_ns:
            self._look_ns = stamped.at_ns + SECOND
            for check in self._checks:
                check.on_time(stamped.at_ns)

    def _group_of(self, stamped: Stamped) -> GroupChecks | None:
        """A call belongs to the group that answered it; a server that was added tells its group itself."""
        event = stamped.event
        if isinstance(event, Called):
            return self._groups.get(self._home.get(event.server, ""))
        name = self._home.get(stamped.server)
        if name is None and isinstance(event, RoleChanged):
            name = self._home[stamped.server] = event.group
        return self._groups.get(name or "")

    def finish(self) -> None:
        """No more events come. What still waits for its counterpart fails."""
        for check in self._checks:
            check.finish()

    @property
    def failures(self) -> list[CheckFailed]:
        """All that was found wrong, by check."""
        return [failure for check in self._checks for failure in check.failures]

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
