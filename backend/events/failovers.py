"""The phases of each failover, computed only from events (CFS §5.4: detection, election, switch, reconnection)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from nodes.config import MILLISECOND, Timing
from nodes.faults.table import lasts
from nodes.trace import events as e
from nodes.trace.base import Event
from nodes.trace.lease_events import LockRemoved

TOGETHER_NS = 100_000_000
"""The end of a session and that of its lock are reported one after the other, within this time."""
SESSION_NS = Timing().session_timeout_ms * MILLISECOND
NOT_OURS = ("heal", "heal_all", "resume", "restart", "add_server", "remove_server")


class Failover(msgspec.Struct, frozen=True):
    """One takeover. `fault_ns` is the time of the first fault at the old active which it did not survive, or else of its last answer to a client."""

    group: str
    fault_ns: int
    detection_ms: float
    """Time from the fault to the end of the session or the loss of the lock."""
    election_ms: float
    """Time from then until a standby obtains the lock."""
    switch_ms: float
    """Time from then until the new active serves."""
    reconnect_ms: float | None
    """Time from then until the new active's first successful answer; None without one before the next failover."""
    total_ms: float
    old: str
    new: str
    epoch: int
    evidence: str = ""
    """What ended the old active's role: `session`, `silence` or `death`; empty when it gave the lock up, or an operator took it."""


def completed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Stored takeovers; those of an earlier version get the fields that they lack."""
    return [msgspec.structs.asdict(msgspec.convert(row, Failover)) for row in rows]


class Interval(msgspec.Struct):
    """Times of one fault; `ended_ns` is 0 while it is in force."""

    began_ns: int
    ended_ns: int

    def survived(self, invoked_ns: int, session_ns: int) -> bool:
        """Whether the active has survived it, if it answered a call that began then: after its end, or a session after it began.

        Nobody answers longer than a session after the fault that ends the session.
        """
        return 0 < self.ended_ns < invoked_ns or self.began_ns + session_ns < invoked_ns

    def may_end(self, lost_ns: int, session_ns: int) -> bool:
        """Whether the role that was lost then may have been lost by it."""
        return not self.ended_ns or lost_ns <= self.ended_ns + session_ns


class FailoverWatch:
    """State of one group between two takeovers."""

    def __init__(self, group: str, session_ns: int):
        self.group = group
        self._session_ns = session_ns
        self.active = ""
        self.faults: dict[int, Interval] = {}
        """Faults at the active, or at the group, after which the active has not answered yet."""
        self.last_answer_ns = 0
        self.lost_ns = 0
        self.obtained_ns = 0
        self.owner = ""
        self.serving_ns = 0
        self.epoch = 0
        self.old = ""
        self.evidence = ""

    def faulted(self, fault: int, at_ns: int, ended_ns: int) -> None:
        self.faults[fault] = Interval(at_ns, ended_ns)

    def fault_ended(self, fault: int, at_ns: int) -> None:
        if fault in self.faults:
            self.faults[fault].ended_ns = at_ns

    def lost(self, at_ns: int) -> None:
        if not self.lost_ns and self.active:
            self.old, self.lost_ns, self.obtained_ns, self.serving_ns = self.active, at_ns, 0, 0

    def obtained(self, owner: str, at_ns: int) -> None:
        self.owner = owner
        self.obtained_ns = at_ns

    def served(self, server: str, epoch: int, at_ns: int) -> None:
        self.active, self.epoch, self.serving_ns = server, epoch, at_ns

    def answered(self, server: str, epoch: int, invoked_ns: int, returned_ns: int) -> Failover | None:
        waiting = self.lost_ns and self.serving_ns > self.lost_ns
        if waiting and epoch == self.epoch and server == self.active:
            return self.finish(returned_ns)
        if server == self.active and not self.lost_ns:
            self.last_answer_ns = max(self.last_answer_ns, returned_ns)
            self.survived(invoked_ns)
        return None

    def survived(self, invoked_ns: int) -> None:
        """Forgets the faults that the active has survived when it answers such a call: no takeover is due to them."""
        for fault, interval in list(self.faults.items()):
            if interval.survived(invoked_ns, self._session_ns):
                del self.faults[fault]

    def finish(self, answered_ns: int | None) -> Failover:
        causes = [each for each in self.faults.values() if each.may_end(self.lost_ns, self._session_ns)]
        fault_ns = min((each.began_ns for each in causes), default=0)
        start = min(fault_ns or self.last_answer_ns or self.lost_ns, self.lost_ns)
        obtained = min(max(self.obtained_ns, self.lost_ns), self.serving_ns)
        end = answered_ns or self.serving_ns
        split = Failover(
            self.group, start, ms(self.lost_ns - start), ms(obtained - self.lost_ns), ms(self.serving_ns -
            obtained),
            ms(answered_ns - self.serving_ns) if answered_ns else None, ms(end - start), self.old,
            self.active, self.epoch, self.evidence,
        )  # fmt: skip
        self.evidence = ""
        self.faults, self.lost_ns = {}, 0
        self.last_answer_ns = answered_ns or 0
        return split


def ms(duration_ns: int) -> float:
    return round(max(0, duration_ns) / 1e6, 3)


class Failovers:
    """Follows all groups; `on_failover(fault_ns, phases)` receives each finished failover.

    In a group without a lock every member serves, and there is no takeover.
    """

    def __init__(self, on_failover: Callable[[int, Failover], None], session_ns: int = SESSION_NS):
        """`session_ns`: the sessions' time-out."""
        self._report = on_failover
        self._session_ns = session_ns
        self._groups: dict[str, FailoverWatch] = {}
        self._steps: dict[type[Event], Callable[[e.Stamped, Any], None]] = {
            e.FaultInjected: self._faulted, e.FaultEnded: self._fault_ended, e.SessionEnded: self._session_ended, e.LockHeld: self._lock_held,
            LockRemoved: self._lock_removed, e.Placed: self._placed, e.Serving: self._serving, e.Called: self._called,
        }  # fmt: skip

    def on_event(self, stamped: e.Stamped) -> None:
        step = self._steps.get(type(stamped.event))
        if step is not None:
            step(stamped, stamped.event)

    def _watch(self, group: str) -> FailoverWatch:
        if group not in self._groups:
            self._groups[group] = FailoverWatch(group, self._session_ns)
        return self._groups[group]

    def _faulted(self, stamped: e.Stamped, event: e.FaultInjected) -> None:
        for watch in self._groups.values():
            if (event.verb not in NOT_OURS and watch.active in event.targets) or watch.group in event.targets:
                watch.faulted(event.fault, stamped.at_ns, 0 if lasts(event.verb) else stamped.at_ns)

    def _fault_ended(self, stamped: e.Stamped, event: e.FaultEnded) -> None:
        for watch in self._groups.values():
            watch.fault_ended(event.fault, stamped.at_ns)

    def _session_ended(self, stamped: e.Stamped, event: e.SessionEnded) -> None:
        for watch in self._groups.values():
            if event.server == watch.active:
                watch.lost(stamped.at_ns)
                if not watch.evidence and stamped.at_ns - watch.lost_ns < TOGETHER_NS:
                    watch.evidence = "session"

    def _lock_removed(self, stamped: e.Stamped, event: LockRemoved) -> None:
        watch = self._watch(event.group)
        if event.holder == watch.active:
            watch.evidence = event.evidence

    def _lock_held(self, stamped: e.Stamped, event: e.LockHeld) -> None:
        watch = self._watch(event.group)
        if event.owner:
            watch.obtained(event.owner, stamped.at_ns)
        elif watch.active:
            watch.lost(stamped.at_ns)

    def _placed(self, stamped: e.Stamped, event: e.Placed) -> None:
        watch = self._watch(event.group)
        if event.state == "" and event.server == watch.active:
            watch.lost(stamped.at_ns)

    def _serving(self, stamped: e.Stamped, event: e.Serving) -> None:
        watch = self._watch(event.group)
        if not watch.owner:
            return
        if watch.lost_ns and watch.serving_ns > watch.lost_ns:
            split = watch.finish(None)
            self._report(split.fault_ns, split)
        if watch.active and not watch.lost_ns:
            watch.lost(watch.obtained_ns or stamped.at_ns)
        watch.served(stamped.server, event.epoch, stamped.at_ns)

    def _called(self, stamped: e.Stamped, event: e.Called) -> None:
        if event.error:
            return
        for watch in self._groups.values():
            split = watch.answered(event.server, event.epoch, event.invoked_ns, event.returned_ns)
            if split is not None:
                self._report(split.fault_ns, split)
