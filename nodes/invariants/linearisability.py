"""linearisable: every call happened at one moment between its invocation and its return (nodes/invariants/README.md).

The witness order is the order of the committed records. A read is placed behind the last record that it saw, or behind the calls that had
been answered when it was invoked, if that is later and changes nothing of what it saw. The model carries the records out in that order, and
each result must be the model's. A call that returned before another was invoked must not be placed behind it.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from nodes.invariants.answers import STATELESS, difference
from nodes.invariants.calls import UNKNOWN, WRITES, answered_wrongly, as_travelled, shown, tag_of
from nodes.invariants.checker import PATIENCE_NS, SECOND, place_in_trace
from nodes.invariants.journals import GroupJournals
from nodes.invariants.model import Expected, Model
from nodes.invariants.model_base import CHECKPOINTS_KEPT, COPIED_MAX, NAMES_MAX, TOO_MANY_NAMES, Base, Based
from nodes.invariants.real_time import RealTime
from nodes.invariants.versions import position_of, shown_position, sn_of
from nodes.trace.checkpoints import BarrierWritten
from nodes.trace.events import Called, Committed, Invoked, Stamped

PAST_NS = 5 * SECOND
"""Longest delay of a read's report with which the read is still compared."""
PATIENCE_WITH_CALLS_NS = 90 * SECOND
"""Longest time for which a committed operation may wait for its client's report."""
WAITING_MAX = 200_000

Key = tuple[str, int]


class Linearisable(Based):
    name = "linearisable"
    meaning = (
        "the history of client calls is linearisable: records in their order, results and real time agree"
    )
    counts = "answers compared with a model of the file system"

    def __init__(self, journals: GroupJournals, base: Base | None = None, barrier_sn: int = 0) -> None:
        super().__init__(base)
        self._journals = journals
        self.steps = self.after_base(
            {
                Committed: self._on_committed,
                Called: self._on_called,
                Invoked: self._on_invoked,
            }
        )
        self.steps[BarrierWritten] = self._on_barrier
        self._barriers: dict[str, int] = {}
        """Sn of the barriers of this incarnation's newest checkpoints."""
        self._kept: dict[str, Model] = {}
        """The model at each of these barriers."""
        self._real_time = RealTime()
        self._next_sn = barrier_sn + 1
        self._place = 0
        """Number of records of group `_next_sn` that are in the model."""
        self._groups: dict[int, tuple[int, list[Key]]] = {}
        """Committed groups that are not in the model yet, each with the time of its commit and its operations."""
        self._known: dict[Key, Stamped] = {}
        """`Called` or `Invoked` of writes that are not in the model yet."""
        self._early: dict[Key, tuple[Expected, int]] = {}
        """Writes in the model whose answer has not been reported yet."""
        self._reads: dict[int, list[Stamped]] = {}
        """Reads of a group that is not in the model yet."""
        self._reads_waiting = 0
        self._recent: deque[tuple[int, int]] = deque()
        """(time of commit, sn) of groups that late reads may still refer to."""
        self._horizon = 0

    # --- events ---------------------------------------------------------------------------------------------

    def _on_committed(self, stamped: Stamped, event: Committed) -> None:
        if self.unable or not self._journals.added_by(stamped, event) or event.sn < self._next_sn:
            return
        self._groups[event.sn] = (stamped.at_ns, event.operations)
        if event.sn == self._next_sn:
            self._advance()

    def _on_invoked(self, stamped: Stamped, event: Invoked) -> None:
        if not self.unable and tag_of(event.operation) in WRITES:
            self._learn((event.client, event.number), stamped)

    def _on_called(self, stamped: Stamped, event: Called) -> None:
        if self.unable:
            return
        if tag_of(event.operation) not in WRITES:
            if event.error != UNKNOWN and event.error not in STATELESS:
                self._on_look(stamped, event)
            return
        key = (event.client, event.number)
        if event.error and event.error != UNKNOWN:
            self._known.pop(key, None)
            self._early.pop(key, None)
            if event.error not in STATELESS:
                self._on_look(stamped, event)
            return
        if not event.error and event.tries == 1:
            self._real_time.returned(event.returned_ns, position_of(event.sn, event.place), stamped)
        if key in self._early:
            self._compare(stamped, event, *self._early.pop(key))
        else:
            self._learn(key, stamped)

    def _learn(self, key: Key, stamped: Stamped) -> None:
        group = self._groups.get(self._next_sn)
        if group is not None and group[1][self._place] == key:
            self._place += 1
            self._run(key, stamped, position_of(self._next_sn, self._place))
            if self._known or self._place == len(group[1]) or not group[1][self._place][0]:
                self._advance()
            return
        if key in self._early or self._is_past(key):
            return
        self._known[key] = stamped
        if len(self._known) > WAITING_MAX:
            # The oldest call of unknown outcome that has not been committed by now hardly will be.
            del self._known[next(iter(self._known))]

    def _is_past(self, key: Key) -> bool:
        sn, place = self._journals.where.get(key, (self._next_sn, self._place + 1))
        return (sn, place) <= (self._next_sn, self._place)

    # --- barriers -------------------------------------------------------------------------------------------

    def _on_barrier(self, stamped: Stamped, event: BarrierWritten) -> None:
        if event.name in self._barriers:
            return
        self._barriers[event.name] = event.sn
        self.has_checkpoint = True
        if len(self._barriers) > CHECKPOINTS_KEPT:
            oldest = next(iter(self._barriers))
            del self._barriers[oldest]
            self._kept.pop(oldest, None)
        if event.sn < self._next_sn:
            self._keep(event.name, event.sn)

    def _keep(self, name: str, sn: int) -> None:
        """Keeps the model at a barrier, which has a group of its own."""
        position = position_of(sn, 1)
        if not self.unable and position >= self._horizon and self._model.names <= COPIED_MAX:
            self._kept[name] = self._model.copy(position)

    def inherit(self, before: Linearisable) -> None:
        """Takes over calls that were under way at the rollback: they may be carried out in this incarnation."""
        self._known = {key: call for key, call in before._known.items() if type(call.event) is Invoked}

    def barrier_sn(self, name: str) -> int | None:
        """Sn of a checkpoint's barrier; None for a checkpoint that this incarnation did not make, or an old one."""
        return self._barriers.get(name)

    def base_of(self, name: str) -> Model | None:
        """The model at a barrier; None while earlier calls have not been reported."""
        self.look_for_base()
        kept = self._kept.get(name)
        return None if kept is None else kept.copy()

    # --- reads ----------------------------------------------------------------------------------------------

    def _on_look(self, stamped: Stamped, event: Called) -> None:
        """Places a read, or a write that was refused, which only read."""
        if not event.sn and not event.epoch:
            return
        self._real_time.returned(event.returned_ns, position_of(event.sn, event.place), stamped)
        self._look(stamped, event)

    def _await(self, stamped: Stamped, sn: int) -> None:
        self._reads.setdefault(sn, []).append(stamped)
        self._reads_waiting += 1
        if self._reads_waiting > WAITING_MAX:
            self._give_up(f"too many calls wait for group {self._next_sn}")

    def _look(self, stamped: Stamped, event: Called) -> None:
        """Places a read from an earlier position than the answered ones behind these, if it would have seen no difference."""
        reported = position_of(event.sn, event.place)
        bound = self._real_time.answered_by(event.invoked_ns)
        position = max(reported, bound)
        if position > position_of(self._next_sn, self._place):
            self._await(stamped, sn_of(position))
            return
        if position < self._horizon:
            return
        commit = self._journals.commits.get(event.sn)
        if commit is not None and event.place > len(commit.operations):
            self._never(
                stamped,
                event,
                f"but group {event.sn} has {len(commit.operations)} records",
                commit.evidence,
            )
            return
        expected = self._model.look(as_travelled(event.operation), position)
        if reported < bound and difference(expected, event.error, as_travelled(event.result)):
            self._stale(stamped, event, reported, bound)
            return
        self._compare(stamped, event, expected, position)

    def _never(self, stamped: Stamped, event: Called, why: str, *evidence: tuple[str, int]) -> None:
        self.fail(
            f"call {event.number} of {event.client}, {shown(event.operation)}, was answered by "
            f"{event.server} from {shown_position(position_of(event.sn, event.place))}, {why}",
            *evidence,
            place_in_trace(stamped),
        )

    # --- the model ------------------------------------------------------------------------------------------

    def _advance(self) -> None:
        """Carries out the known calls up to the first gap."""
        groups = self._groups
        while (group := groups.get(self._next_sn)) is not None:
            operations = group[1]
            while self._place < len(operations):
                key = operations[self._place]
                if not key[0]:
                    self._place += 1
                    continue
                stamped = self._known.pop(key, None)
                if stamped is None:
                    return
                self._place += 1
                self._run(key, stamped, position_of(self._next_sn, self._place))
            self._close_group(group[0])

    def _run(self, key: Key, stamped: Stamped, position: int) -> None:
        event: Any = stamped.event
        bound = self._real_time.answered_by(event.invoked_ns)
        if position <= bound:
            self._stale(stamped, event, position, bound)
        expected = self._model.run(as_travelled(event.operation), position)
        if type(event) is not Called:
            self._early[key] = (expected, position)
        elif event.error != UNKNOWN:
            self._compare(stamped, event, expected, position)

    def _close_group(self, at_ns: int) -> None:
        sn = self._next_sn
        del self._groups[sn]
        self._next_sn, self._place = sn + 1, 0
        for name in [name for name, barrier_sn in self._barriers.items() if barrier_sn == sn]:
            self._keep(name, sn)
        self._recent.append((at_ns, sn))
        while self._recent[0][0] < at_ns - PAST_NS:
            self._horizon = position_of(self._recent.popleft()[1], 0)
        self._model.past.forget_before(self._horizon)
        if self._model.names > NAMES_MAX:
            self._give_up(TOO_MANY_NAMES)
            return
        waiting = self._reads.pop(sn, ())
        self._reads_waiting -= len(waiting)
        for stamped in waiting:
            self._look(stamped, stamped.event)  # type: ignore[arg-type]

    # --- verdicts -------------------------------------------------------------------------------------------

    def _compare(self, stamped: Stamped, event: Called, expected: Expected, position: int) -> None:
        if event.error == UNKNOWN:
            return
        if event.tries > 1 and not event.error and tag_of(event.operation) in WRITES:
            self._real_time.returned(event.returned_ns, position, stamped)
        wanted = difference(expected, event.error, as_travelled(event.result))
        if not wanted:
            self.checked += 1
            return
        self.fail(
            answered_wrongly(event, shown_position(position), wanted),
            *self._last_writes(position),
            place_in_trace(stamped),
        )

    def _last_writes(self, position: int) -> list[tuple[str, int]]:
        """The commit of the group that the answer shows."""
        commit = self._journals.commits.get(sn_of(position))
        return [] if commit is None else [commit.evidence]

    def _stale(self, stamped: Stamped, event: Called | Invoked, position: int, bound: int) -> None:
        server = f" by {event.server}" if isinstance(event, Called) else ""
        self.fail(
            f"call {event.number} of {event.client}, {shown(event.operation)}, was answered{server} from "
            f"{shown_position(position)}, though {shown_position(bound)} had been answered "
            "before it was invoked",
            place_in_trace(self._real_time.witness(event.invoked_ns)),
            place_in_trace(stamped),
        )

    # --- time -----------------------------------------------------------------------------------------------

    def on_time(self, now_ns: int) -> None:
        """Gives up on facts that will not arrive any more."""
        self.look_for_base()
        newest = self._journals.newest
        if self.unable or newest is None:
            return
        if self._next_sn <= newest.sn and self._next_sn not in self._groups:
            if now_ns - newest.at_ns > PATIENCE_NS or newest.sn - self._next_sn > WAITING_MAX:
                self._give_up(
                    f"group {self._next_sn} was committed before the check began, and no event shows it"
                )
        elif (
            self._next_sn in self._groups and now_ns - self._groups[self._next_sn][0] > PATIENCE_WITH_CALLS_NS
        ):
            client, number = self._groups[self._next_sn][1][self._place]
            self._give_up(f"no event says what call {number} of {client} in group {self._next_sn} was")

    def _give_up(self, reason: str) -> None:
        self.unable = f"cannot go on: {reason}"
        for entries in (self._groups, self._known, self._early, self._reads):
            entries.clear()
        self._model = Model()

    def finish(self) -> None:
        """A read of a group that was never committed is a failure.

        Calls behind an operation that no client ever reported stay unchecked.
        """
        super().finish()
        newest = self._journals.newest
        if self.unable or newest is None:
            return
        for sn in [sn for sn in self._reads if sn > newest.sn]:
            for stamped in self._reads.pop(sn):
                self._never(stamped, stamped.event, "a group that was never committed")  # type: ignore[arg-type]
        if self._next_sn not in self._groups and self._next_sn < newest.sn:
            self._give_up(
                f"group {self._next_sn} was committed before the check began, and no event shows it"
            )

    def paths(self) -> dict[str, bool] | None:
        """Every path of the present model, and whether it is a directory; None while the state at the barrier is not known."""
        self.look_for_base()
        return None if self.waits else self._model.paths()
