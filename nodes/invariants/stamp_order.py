"""linearisable, in a cluster of several groups (nodes/invariants/README.md).

The witness order is that of the stamps of a clock that all groups synchronise with every message: if one call saw another's effect, its stamp
is later. The model carries the calls out in that order, and each result must be the model's. Within a group, no call may be ordered before
a write that had been answered when it was invoked. A group whose clocks are behind may stamp a write earlier than one that another group had
answered before: its answer must be right behind that one, too. A file whose home is not that of its name is looked up twice: its name when it
was resolved, the file when it was reached.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

from nodes.invariants.answers import STATELESS, difference
from nodes.invariants.calls import UNKNOWN, WRITES, answered_wrongly, as_travelled, shown, tag_of
from nodes.invariants.checker import SECOND, place_in_trace
from nodes.invariants.model import Model
from nodes.invariants.model_base import CHECKPOINTS_KEPT, COPIED_MAX, NAMES_MAX, TOO_MANY_NAMES, Base, Based
from nodes.invariants.real_time import RealTime
from nodes.trace.checkpoints import BarrierWritten
from nodes.trace.events import Called, Committed, Invoked, Stamped

LATE_NS = 90 * SECOND
"""Longest time, in the time of events, for which a call may be reported late: as long as a client may wait for its answer."""
SOON_NS = 5 * SECOND
WAITING_MAX = 200_000
SESSIONS = frozenset(("OpenSession", "CloseSession"))
NEWEST = 1 << 63
"""A position behind everything that has been carried out."""
Key = tuple[str, int]
Where = tuple[str, int]
"""Group and sn."""


class Record(NamedTuple):
    """A committed record of a write: the stamp it bears, its place, and the time at which its commit was reported."""

    stamp_ns: int
    where: Where
    at_ns: int


class CheckpointCut:
    """One checkpoint: the barriers of the groups, and the model at these."""

    def __init__(self) -> None:
        self.barriers: dict[str, int] = {}
        self.too_large = False
        self.model: Model | None = None
        """The model at the checkpoint; None until a call behind the checkpoint is carried out."""

    def holds(self, where: Where) -> bool:
        group, sn = where
        return sn < self.barriers.get(group, 1 << 62)


class ByStamp(Based):
    name = "linearisable"
    meaning = "the history of client calls is linearisable: in the order of the groups' common clock, results and real time agree"
    counts = "answers compared with a model of the file system"

    def __init__(self, groups: dict[str, str], base: Base | None = None) -> None:
        super().__init__(base)
        self._groups = groups
        """Server to the name of its group."""
        self.steps = self.after_base(
            {
                Called: self._on_called,
                Invoked: self._on_invoked,
                Committed: self._on_committed,
            }
        )
        self.steps[BarrierWritten] = self._on_barrier
        self._cuts: dict[str, CheckpointCut] = {}
        """Checkpoints of this incarnation, the newest ones, by name."""
        self._real_time: dict[str, RealTime] = {}
        """Answered writes by group. Reads do not count: after a restart of all servers their clock may be behind the stamp of an earlier read."""
        self._due: list[tuple[int, int, int, int, int, Stamped, Where]] = []
        """Calls by their place in the order, then by stamp, then by a number that tells equal ones apart; the moment as of which they look, and
        the time by which they had certainly taken effect."""
        self._count = 0
        self._invoked: dict[Key, Stamped] = {}
        """Calls without a known place: not returned, without an answer, or answered again from memory."""
        self._stamps: dict[Key, Record] = {}
        """Committed records of writes whose answer has not been reported."""
        self._begun: set[str] = set() if base is None else set(groups.values())
        """Groups whose commits were seen from the first one on."""
        self._done_ns = 0
        self._returned_ns = 0
        """Time when the last of the calls carried out so far returned, of those whose return is known."""
        self._unreturned_ns = 0
        """The latest stamp of a call carried out so far whose return is not known: calls reported later may have come before it."""
        self._written_ns = 0
        """The latest stamp of a write carried out so far."""
        self._now_ns = 0

    # --- events ---------------------------------------------------------------------------------------------

    def _on_invoked(self, stamped: Stamped, event: Invoked) -> None:
        if tag_of(event.operation) not in SESSIONS:
            self._invoked[event.client, event.number] = stamped

    def _on_committed(self, stamped: Stamped, event: Committed) -> None:
        if event.sn == 1:
            self._begun.add(event.group)
        for (client, number), stamp in zip(event.operations, event.stamps, strict=False):
            if client:
                self._stamps[client, number] = Record(stamp, (event.group, event.sn), stamped.at_ns)
        while len(self._stamps) > WAITING_MAX:
            del self._stamps[next(iter(self._stamps))]

    def _on_called(self, stamped: Stamped, event: Called) -> None:
        key, tag = (event.client, event.number), tag_of(event.operation)
        self._invoked.pop(key, None)
        # An error without an epoch is the client's own refusal: the path of a new name cannot be resolved.
        refused_by_nobody = event.error and event.error != UNKNOWN and not event.epoch
        if self.unable or tag in SESSIONS or event.error in STATELESS or refused_by_nobody:
            self._stamps.pop(key, None)
            return
        if event.error != UNKNOWN and not event.epoch:
            # The client computed this answer itself, so it has a place in no group.
            return
        if event.error == UNKNOWN:
            if tag in WRITES:
                self._invoked[key] = stamped
            return
        record = self._stamps.pop(key, None)
        if record is not None and tag in WRITES and not event.error:
            self._written(stamped, event, record.stamp_ns, record.where)
        elif event.tries == 1 or event.error or tag not in WRITES:
            looks = event.error or tag not in WRITES
            where = self._groups.get(event.server, event.server), event.sn
            if looks:
                self._plan_look(stamped, event, where)
            else:
                self._written(stamped, event, event.stamp_ns, where)
        else:
            self._invoked[key] = stamped

    def _on_barrier(self, stamped: Stamped, event: BarrierWritten) -> None:
        self._cuts.setdefault(event.name, CheckpointCut()).barriers[event.group] = event.sn
        self.has_checkpoint = True
        if len(self._cuts) > CHECKPOINTS_KEPT:
            del self._cuts[next(iter(self._cuts))]

    def inherit(self, before: ByStamp) -> None:
        """Takes over calls that were under way at the rollback: they may be carried out in this incarnation."""
        self._invoked = dict(before._invoked)

    def forget_call(self, event: Called) -> None:
        """Forgets a call that was answered in another incarnation. If it also has a record here, which was quarantined, other calls may have
        seen its effect before."""
        key = (event.client, event.number)
        stamped = self._invoked.pop(key, None)
        if stamped is not None and key in self._stamps:
            self._plan_record(stamped, self._stamps.pop(key))

    def has_barrier(self, name: str) -> bool:
        """Whether this incarnation made the checkpoint recently enough."""
        return name in self._cuts

    def base_of(self, name: str) -> Model | None:
        """The model at a barrier; None while earlier calls have not been carried out."""
        self.look_for_base()
        cut = self._cuts.get(name)
        if cut is None or cut.too_large or self.unable or self.waits:
            return None
        open_calls = [self._stamps[key].where for key in self._invoked if key in self._stamps]
        if any(cut.holds(where) for where in open_calls + [each[-1] for each in self._due]):
            return None
        return (cut.model or self._model).copy()

    def _written(self, stamped: Stamped, event: Called, stamp_ns: int, where: Where) -> None:
        self._real_time.setdefault(where[0], RealTime()).returned(event.returned_ns, stamp_ns, stamped)
        self._plan(stamp_ns, stamped, where, event.returned_ns)

    def _plan_record(self, stamped: Stamped, record: Record) -> None:
        """A write without an answer. Its client may have given it up before it was committed."""
        self._plan(record.stamp_ns, stamped, record.where, record.at_ns)

    def _plan_look(self, stamped: Stamped, event: Called, where: Where) -> None:
        """A read is carried out when its name has been resolved, which may be after its stamp: a leader with uncommitted records answers as of
        the moment before these."""
        look_ns, order_ns = event.stamp_ns, event.resolved_ns
        if event.invoked_ns >= self._returned_ns:
            order_ns = max(order_ns, self._done_ns + 1)
            if event.stamp_ns > self._unreturned_ns:
                # Its stamp may be behind an earlier read, as below, never behind a record: it sees whatever was written so far.
                look_ns = max(look_ns, self._done_ns + 1)
        self._plan(event.stamp_ns, stamped, where, event.returned_ns, order_ns, look_ns)

    def _plan(
        self,
        stamp_ns: int,
        stamped: Stamped,
        where: Where,
        ended_ns: int,
        order_ns: int = 0,
        look_ns: int = 0,
    ) -> None:
        """`ended_ns`: the time by which it had taken effect; `order_ns`: the earliest place in the order; `look_ns`: the moment as of which a
        read looks."""
        event: Called | Invoked = stamped.event  # type: ignore[assignment]
        order_ns = max(stamp_ns, order_ns)
        is_answered = isinstance(event, Called) and event.error != UNKNOWN
        if event.invoked_ns >= self._returned_ns and stamp_ns > (
            self._unreturned_ns if is_answered else self._written_ns
        ):
            # After a restart of all servers of a group, their clock may be behind the stamp of an earlier read, or of another group's write, which
            # this call may only follow.
            order_ns = max(order_ns, self._done_ns + 1)
        if order_ns <= self._done_ns:
            self.unable = "cannot go on: a call was reported too late"
            self._due.clear()
            return
        self._count += 1
        heappush(self._due, (order_ns, stamp_ns, self._count, look_ns or stamp_ns, ended_ns, stamped, where))

    # --- time -----------------------------------------------------------------------------------------------

    def on_time(self, now_ns: int) -> None:
        self._now_ns = now_ns
        self.look_for_base()
        self._carry_out(now_ns)

    def catch_up(self) -> None:
        """Carries out everything: calls that have not been reported by now never will be."""
        self.look_for_base()
        self._carry_out(1 << 63)

    def finish(self) -> None:
        super().finish()
        self._carry_out(1 << 63)

    def _carry_out(self, now_ns: int) -> None:
        """Carries out calls in order, as far as no earlier call can still be reported. A call that is under way may bear an earlier stamp than
        one that had not ended when it was invoked."""
        self._settle_unknown(now_ns)
        open_ns = min((stamped.event.invoked_ns for stamped in self._invoked.values()), default=1 << 63)  # type: ignore[union-attr]
        committed_ns = min(
            (self._stamps[key].stamp_ns for key in self._invoked if key in self._stamps), default=1 << 63
        )
        while self._due and not self.unable:
            order_ns, _, _, stamp_ns, ended_ns, stamped, where = self._due[0]
            if stamped.at_ns > now_ns - SOON_NS or ended_ns > open_ns or order_ns > committed_ns:
                return
            heappop(self._due)
            self._done_ns = order_ns
            self._cut(stamp_ns, stamped, where)
            self._check(stamp_ns, stamped)
            self._model.past.forget_before(stamp_ns - LATE_NS)
            if self._model.names > NAMES_MAX:
                self.unable, self._model = f"cannot go on: {TOO_MANY_NAMES}", Model()
                self._cuts.clear()

    def _settle_unknown(self, now_ns: int) -> None:
        """Places a call without an answer by its record. Without a record, it gets no place after a while."""
        for key, stamped in list(self._invoked.items()):
            event: Called | Invoked = stamped.event  # type: ignore[assignment]
            if key in self._stamps and (isinstance(event, Called) or event.invoked_ns < now_ns - LATE_NS):
                del self._invoked[key]
                self._plan_record(stamped, self._stamps.pop(key))
            elif event.invoked_ns < now_ns - LATE_NS:
                del self._invoked[key]

    def _cut(self, stamp_ns: int, stamped: Stamped, where: Where) -> None:
        """Keeps a checkpoint's model before the first change behind it. A late change before it is carried out on this model, too."""
        event: Called | Invoked = stamped.event  # type: ignore[assignment]
        refused = isinstance(event, Called) and event.error not in ("", UNKNOWN)
        if refused or tag_of(event.operation) not in WRITES:
            return
        for cut in self._cuts.values():
            if not cut.holds(where):
                if cut.model is None and not cut.too_large:
                    cut.too_large = self._model.names > COPIED_MAX
                    cut.model = None if cut.too_large else self._model.copy()
            elif cut.model is not None:
                cut.model.run(as_travelled(event.operation), stamp_ns)

    # --- verdicts -------------------------------------------------------------------------------------------

    def _check(self, stamp_ns: int, stamped: Stamped) -> None:
        event: Called | Invoked = stamped.event  # type: ignore[assignment]
        operation = as_travelled(event.operation)
        if not isinstance(event, Called) or event.error == UNKNOWN:
            self._model.run(operation, stamp_ns)
            self._unreturned_ns = max(self._unreturned_ns, stamp_ns)
            self._written_ns = max(self._written_ns, stamp_ns)
            return
        group = self._groups.get(event.server, event.server)
        if group not in self._begun:
            self.unable = f"cannot go on: {group} had committed something before this check began"
            self._due.clear()
            return
        real_time = self._real_time.get(group)
        if real_time is not None and stamp_ns < real_time.answered_by(event.invoked_ns):
            self.fail(
                f"call {event.number} of {event.client}, {shown(event.operation)}, was answered by {event.server} as of "
                f"{stamp_ns}, though a later write had been answered before it was invoked",
                place_in_trace(real_time.witness(event.invoked_ns)),
                place_in_trace(stamped),
            )
        self._returned_ns = max(self._returned_ns, event.returned_ns)
        changes = not event.error and tag_of(event.operation) in WRITES
        wanted = ""
        if changes and stamp_ns < self._written_ns:
            # It bears an earlier stamp than a write that had returned before. Its answer must be right as of now, too.
            wanted = difference(self._model.look(operation, NEWEST), "", as_travelled(event.result))
        if changes:
            self._written_ns = max(self._written_ns, stamp_ns)
        if event.resolved_ns:
            expected = self._model.reach(operation, event.resolved_ns, stamp_ns, changes)
        else:
            expected = (self._model.run if changes else self._model.look)(operation, stamp_ns)
        wanted = wanted or difference(expected, event.error, as_travelled(event.result))
        if not wanted:
            self.checked += 1
            return
        self.fail(answered_wrongly(event, str(stamp_ns), wanted), place_in_trace(stamped))

    def paths(self) -> dict[str, bool] | None:
        """Every path of the present model, and whether it is a directory; None while the state at the barrier is not known."""
        self.catch_up()
        return None if self.waits else self._model.paths()
