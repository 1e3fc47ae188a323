"""The invariants: all checks over one stream of events."""

from __future__ import annotations

from itertools import chain
from typing import Any

from nodes.config import ClusterConfig
from nodes.invariants.atomicity import Atomic
from nodes.invariants.barrier_blocks import BarrierBlocks
from nodes.invariants.barrier_bound import UpToBarrier
from nodes.invariants.block_retention import BlocksKept
from nodes.invariants.calls import WRITES, tag_of
from nodes.invariants.checker import SECOND, Check
from nodes.invariants.dense_journal import DenseJournal
from nodes.invariants.exactly_once import ExactlyOnce
from nodes.invariants.incarnation import IncarnationChecks, Step
from nodes.invariants.inode_numbers import InodeNumbers
from nodes.invariants.linearisability import Linearisable
from nodes.invariants.no_lost_write import NoLostWrite
from nodes.invariants.one_active import OneActive
from nodes.invariants.one_primary_view import OnePrimaryView
from nodes.invariants.replicas import Replicas
from nodes.invariants.same_order import SameOrder
from nodes.invariants.same_state import SameState
from nodes.invariants.stamp_order import ByStamp
from nodes.trace.base import Event
from nodes.trace.checkpoints import TakenBack
from nodes.trace.events import Called, CheckFailed, Committed, RoleChanged, Stamped

CHANGES = WRITES - {"OpenSession", "CloseSession"}
INCARNATIONS_KEPT = 8
"""Number of incarnations whose models are kept; of others only what their checks have found."""

FIRST = 0
"""The incarnation in which the checks began: no server has been rolled back in it."""

NAMES = tuple(
    check.name
    for check in (OneActive, NoLostWrite, ExactlyOnce, SameState, DenseJournal, Linearisable, InodeNumbers)
)
NAMES_OF_ALL = (*NAMES, Atomic.name, UpToBarrier.name, BlocksKept.name, SameOrder.name, OnePrimaryView.name)
"""Invariants in the order of the page. The last five exist only with several groups, checkpoints, data nodes, or symmetric members."""


REPORT_GROUP = (RoleChanged, TakenBack)
"""Events that show the group of a server that was added."""


class InvariantChecks:
    """Live verdicts on a cluster. It is given every event, in each server's own order."""

    def __init__(self, cluster: ClusterConfig) -> None:
        self._cluster = cluster
        self._home = {name: group.name for group in cluster.groups for name in group.members}
        """Server to its group. The events of an added server show its group."""
        self._incarnations = {FIRST: IncarnationChecks(cluster, self._home)}
        """Eras in the order of their incarnations. Of two recoveries the second may be reported first, by a server that slept through the other."""
        self._lives_in: dict[str, int] = {}
        """The incarnation of each server that has rolled back."""
        self._began: dict[str, list[tuple[int, int]]] = {}
        """By group: the (epoch, incarnation) with which each incarnation but the first began."""
        self._barriers: dict[tuple[int, str], int] = {}
        """By incarnation and group: the sn behind which it begins."""
        self._first_sns: dict[tuple[int, str], int] = {}
        """By incarnation and group: its first sn, where a journal goes on through all incarnations."""
        self._ended: dict[int, list[Check]] = {}
        """Verdicts on the incarnations that are not kept."""
        self._barrier = UpToBarrier({group.number: group.name for group in cluster.groups})
        self._lasting: list[Check] = [InodeNumbers(), self._barrier]
        """Checks that continue over a recovery, because blocks stay on their nodes."""
        self.replicas = Replicas()
        """The replicas that data nodes report."""
        if cluster.data.nodes:
            self._lasting += [BlocksKept(self.replicas), BarrierBlocks(self.replicas)]
        self._lasting_steps: dict[type[Event], list[Step]] = {}
        for check in self._lasting:
            for kind, step in check.steps.items():
                self._lasting_steps.setdefault(kind, []).append(step)
        self._look_ns = 0
        self._acknowledged = False
        self._over = False

    def on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        kind = type(event)
        if kind is Called and not event.error and not self._acknowledged:  # type: ignore[union-attr]
            self._acknowledged = tag_of(event.operation) in CHANGES  # type: ignore[union-attr]
        if isinstance(event, REPORT_GROUP):
            self._home.setdefault(stamped.server, event.group)
        if isinstance(event, TakenBack):
            self._take_back(stamped, event)
        checked = self._incarnations.get(
            self._incarnation_of(stamped) if len(self._incarnations) > 1 else FIRST
        )
        if isinstance(event, Called) and len(self._incarnations) > 1:
            for other in self._incarnations.values():
                if other is not checked and other.by_stamp is not None:
                    other.by_stamp.forget_call(event)
        if checked is not None:
            group = checked.only or checked.groups.get(self._group_of(stamped))
            for step in group.steps.get(kind, ()) if group is not None else ():
                step(stamped, event)
            for check in checked.shared:
                check.on_event(stamped)
        for step in self._lasting_steps.get(kind, ()):
            step(stamped, event)
        if stamped.at_ns > self._look_ns:
            self._look_ns = stamped.at_ns + SECOND
            for check in (*self._earlier(), *self._last_incarnation.checks, *self._lasting):
                check.on_time(stamped.at_ns)

    def _earlier(self) -> list[ByStamp]:
        """Checks of earlier incarnations that are still running, from whose models later incarnations begin."""
        return [
            checked.by_stamp
            for checked in list(self._incarnations.values())[:-1]
            if checked.by_stamp is not None
        ]

    @property
    def _last_incarnation(self) -> IncarnationChecks:
        return self._incarnations[max(self._incarnations)]

    def _take_back(self, stamped: Stamped, event: TakenBack) -> None:
        number = self._lives_in[stamped.server] = event.incarnation
        if number not in self._incarnations and number not in self._ended:
            before = [checked for each, checked in self._incarnations.items() if each < number]
            self._incarnations[number] = IncarnationChecks(
                self._cluster, self._home, before, event.checkpoint, event.next_sn
            )
            self._incarnations = dict(sorted(self._incarnations.items()))
            lived_in = {self._lives_in.get(server, FIRST) for server in self._home}
            for over in to_forget(self._incarnations, lived_in):
                self._ended[over] = self._incarnations.pop(over).verdicts()
        began = self._began.setdefault(event.group, [])
        if (event.epoch, number) not in began:
            began.append((event.epoch, number))
        if event.sn:
            self._begin_behind(number, event)
        if event.next_sn:
            # A server that begins from an image of the incarnation reports a later sn than those that rolled back.
            first_sn = self._first_sns.get((number, event.group), event.next_sn)
            self._first_sns[number, event.group] = min(first_sn, event.next_sn)
        if event.next_sn and number in self._incarnations:
            # Its journal goes on through all incarnations. A restart may have begun it again since this one saw it last.
            journals = self._incarnations[number].groups[event.group].journals
            journals.of(stamped.server).end_at(None, stamped.number)

    def _begin_behind(self, number: int, event: TakenBack) -> None:
        is_first = (number, event.group) not in self._barriers
        self._barriers[number, event.group] = event.sn
        if is_first and number in self._incarnations:
            begun = self._incarnations[number].groups[event.group]
            begun.exactly_once.inherit(event.sn, self._kept_calls(event.group, number))

    def _kept_calls(self, group: str, until: int) -> set[tuple[str, int]]:
        """Calls of earlier incarnations whose effects belong to the incarnation `until`."""
        kept = set()
        for since, checked in self._incarnations.items():
            if since < until:
                kept_sn = self._kept_sn(group, since, until)
                places = checked.groups[group].journals.where
                kept |= {call for call, (sn, _) in places.items() if call[0] and sn <= kept_sn}
        return kept

    def _incarnation_of(self, stamped: Stamped) -> int:
        """The incarnation of an event: of a call the one in which it had its effect, of a client's other events the present one."""
        event = stamped.event
        if isinstance(event, Called):
            return self._incarnation_of_call(event)
        if stamped.server not in self._home:
            return max(self._incarnations)
        lives_in = self._lives_in.get(stamped.server, FIRST)
        return self._incarnation_of_group(event, lives_in) if isinstance(event, Committed) else lives_in

    def _incarnation_of_group(self, event: Committed, lives_in: int) -> int:
        """The incarnation in which a committed group was written. Where a journal goes on through all incarnations, a server that takes over
        reports groups of earlier ones again."""
        began = (
            number
            for (number, group), first_sn in self._first_sns.items()
            if group == event.group and number <= lives_in and first_sn <= event.sn
        )
        goes_on = (lives_in, event.group) in self._first_sns
        return max(began, default=FIRST) if goes_on else lives_in

    def _incarnation_of_call(self, event: Called) -> int:
        """The incarnation in whose epochs the call was answered; an earlier one when a record that was not quarantined is answered from memory."""
        group = self._home.get(event.server, "")
        began = self._began.get(group, [])
        answered = max((number for epoch, number in began if epoch <= event.epoch), default=FIRST)
        if event.error:
            return answered
        for number, checked in self._incarnations.items():
            checks = checked.groups.get(group)
            place = checks.journals.where.get((event.client, event.number)) if checks is not None else None
            if number < answered and place is not None and place[0] <= self._kept_sn(group, number, answered):
                return number
        return answered

    def _kept_sn(self, group: str, since: int, until: int) -> int:
        """The sn up to which commits of the incarnation `since` belong to the incarnation `until`."""
        later = [
            sn for (number, each), sn in self._barriers.items() if each == group and since < number <= until
        ]
        return min(later, default=0)

    @property
    def went_back(self) -> bool:
        """Whether some server has rolled back to a checkpoint."""
        return len(self._incarnations) > 1

    def is_kept(self, client: str, number: int) -> bool:
        """Whether the record of a write belongs to the present state: no recovery has quarantined it. False for a write without a reported
        commit."""
        newest = max(self._incarnations)
        for since, checked in self._incarnations.items():
            for group, checks in checked.groups.items():
                place = checks.journals.where.get((client, number))
                if place and (since == newest or place[0] <= self._kept_sn(group, since, newest)):
                    return True
        return False

    def _group_of(self, stamped: Stamped) -> str:
        """The group of an event; for a call, the group that answered it."""
        event = stamped.event
        return self._home.get(event.server if isinstance(event, Called) else stamped.server, "")

    def finish(self) -> None:
        """The end of all events. Facts that still wait for their counterpart fail, unless their incarnation was rolled back."""
        for check in [*self._earlier(), *self._last_incarnation.checks, *self._lasting]:
            check.finish()
        self._over = True

    @property
    def has_checkpoint(self) -> bool:
        """Whether a barrier was written."""
        return any(checked.has_checkpoint for checked in self._incarnations.values())

    @property
    def _checks(self) -> list[Check]:
        """All checks; the barrier's is included as soon as there are checkpoints."""
        marked = self._barrier.checked or self._barrier.failures
        lasting = [check for check in self._lasting if marked or check.name != self._barrier.name]
        kept = [checked.checks for checked in self._incarnations.values()]
        return [*chain.from_iterable((*self._ended.values(), *kept)), *lasting]

    @property
    def failures(self) -> list[CheckFailed]:
        return [failure for check in self._checks for failure in check.failures]

    def paths(self) -> dict[str, bool] | None:
        """Every path that must exist now, and whether it is a directory; None when no check knows.

        It must be called when no call is under way. Calls whose clients died count as unanswered.
        """
        for before in self._earlier():
            before.catch_up()
        for check in self._last_incarnation.checks:
            if isinstance(check, Linearisable | ByStamp) and not check.unable:
                return check.paths()
        return None

    @property
    def unjudged(self) -> list[CheckFailed]:
        """Invariants without a verdict: a check gave up, or has checked nothing at the end though changes were acknowledged. For a judged run
        that is a failure; on the page the invariant is grey."""
        found = [CheckFailed(check.name, check.unable, []) for check in self._checks if check.unable]
        if self._over and self._acknowledged:
            for checks in self._by_name().values():
                idle = not any(check.checked or check.failures or check.unable for check in checks)
                if idle and any(check.always for check in checks):
                    found.append(
                        CheckFailed(
                            checks[0].name, "nothing was checked though changes were acknowledged", []
                        )
                    )
        return found

    def _by_name(self) -> dict[str, list[Check]]:
        by_name: dict[str, list[Check]] = {}
        for check in self._checks:
            by_name.setdefault(check.name, []).append(check)
        return by_name

    def invariants(self) -> list[dict[str, Any]]:
        """One row for each invariant: grey when nothing could be checked, red with the first failure."""
        return [_invariant(checks) for checks in self._by_name().values()]


def to_forget(incarnations: dict[int, IncarnationChecks], lived_in: set[int]) -> list[int]:
    """Incarnations beyond INCARNATIONS_KEPT in which no server lives, those first from whose checkpoints no other can begin, then the oldest."""
    over = [number for number in incarnations if number not in lived_in]
    over.sort(key=lambda number: (incarnations[number].has_checkpoint, number))
    return over[: max(0, len(incarnations) - INCARNATIONS_KEPT)]


def _invariant(checks: list[Check]) -> dict[str, Any]:
    """The row of one invariant, over all groups."""
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
        "counts": checks[0].counts,
        "state": state,
        "checked": checked,
        "explanation": explanation,
        "evidence": [list(each) for each in first.evidence] if first is not None else [],
    }


def start(cluster: ClusterConfig) -> InvariantChecks:
    return InvariantChecks(cluster)
