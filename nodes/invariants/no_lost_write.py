"""no lost write: an acknowledged write is in the state after any failover, repair or renewing.

nodes/invariants/README.md, safety rules 1-4.
"""

from __future__ import annotations

from nodes.invariants.calls import WRITES, shown, tag_of
from nodes.invariants.checker import PATIENCE_NS, Check, place_in_trace
from nodes.invariants.journals import CommittedGroup, GroupJournals
from nodes.trace.events import Called, Committed, JournalOpened, Serving, Stamped, StoppedServing

LOOKED_AT = 1_000
"""Number of groups that an active may have committed before its service is reported."""


class NoLostWrite(Check):
    name = "no lost write"
    meaning = "an acknowledged modification is in the state after any failover, repair or renewing"
    counts = "acknowledged writes, each looked for again after every change of the active"

    def __init__(self, journals: GroupJournals) -> None:
        super().__init__()
        self._journals = journals
        self.steps = {
            Called: self._on_called,
            Committed: self._on_committed,
            Serving: self._on_serving,
            StoppedServing: self._on_stopped,
            JournalOpened: self._on_stopped,
        }
        self._waiting: dict[tuple[str, int], Stamped] = {}
        """Acknowledged writes whose commit has not been reported yet."""
        self._serving: Stamped | None = None

    # --- acknowledged writes --------------------------------------------------------------------------------

    def _on_called(self, stamped: Stamped, event: Called) -> None:
        if event.error or tag_of(event.operation) not in WRITES:
            return
        key = (event.client, event.number)
        if key in self._journals.where:
            self.checked += 1
        else:
            self._waiting[key] = stamped

    def _on_committed(self, stamped: Stamped, event: Committed) -> None:
        commit = self._journals.commits.get(event.sn)
        if commit is not None and commit.crc != event.crc:
            loser, winner = (
                (commit.epoch, event.epoch) if commit.epoch <= event.epoch else (event.epoch, commit.epoch)
            )
            lost = commit.operations if loser == commit.epoch else event.operations
            self.fail(
                f"group {event.sn} of epoch {loser} was committed and is replaced by another one "
                f"of epoch {winner}: {_named(lost)}",
                commit.evidence,
                place_in_trace(stamped),
            )
            return
        if self._waiting:
            for client, number in event.operations:
                if self._waiting.pop((client, number), None) is not None:
                    self.checked += 1

    def on_time(self, now_ns: int) -> None:
        while self._waiting:
            key = next(iter(self._waiting))
            if now_ns - self._waiting[key].at_ns < PATIENCE_NS:
                return
            self._never_committed(self._waiting.pop(key))

    def _never_committed(self, stamped: Stamped) -> None:
        event: Called = stamped.event  # type: ignore[assignment]
        if self._beyond_memory(event):
            return
        self.fail(
            f"call {event.number} of {event.client}, {shown(event.operation)}, was acknowledged "
            f"by {event.server} at group {event.sn} of epoch {event.epoch} but is in no committed group",
            place_in_trace(stamped),
        )

    def _beyond_memory(self, event: Called) -> bool:
        """The write's group came before the check began, has been forgotten, or may have no reported commit."""
        journals = self._journals
        if event.sn < journals.first_sn or event.invoked_ns <= journals.forgotten_at_ns:
            return True
        return event.sn in journals.missing or bool(journals.missing and event.tries > 1)

    # --- failovers ------------------------------------------------------------------------------------------

    def _on_serving(self, stamped: Stamped, event: Serving) -> None:
        if self._serving is None or event.epoch >= self._epoch(self._serving):
            self._serving = stamped
        commit = self._last_before(event.epoch)
        if commit is not None:
            self._must_hold(
                stamped,
                commit,
                min(event.sn, self._journals.of(stamped.server).last_sn or event.sn),
            )

    def _last_before(self, epoch: int) -> CommittedGroup | None:
        """The newest group that an earlier tenure committed."""
        newest = self._journals.newest
        if newest is None:
            return None
        for sn in range(newest.sn, max(0, newest.sn - LOOKED_AT), -1):
            commit = self._journals.commits.get(sn)
            if commit is not None and commit.epoch < epoch:
                return commit
        return None

    def _must_hold(self, stamped: Stamped, commit: CommittedGroup, last_sn: int) -> None:
        server, epoch = stamped.server, self._epoch(stamped)
        crc = self._journals.of(server).crcs.get(commit.sn, commit.crc)
        if last_sn < commit.sn:
            what = f"ends at group {last_sn}, before committed group {commit.sn} of epoch {commit.epoch}"
        elif crc != commit.crc:
            what = f"holds another group {commit.sn} than {commit.server} committed in epoch {commit.epoch}"
        else:
            self.checked += 1
            return
        self.fail(
            f"{server} serves epoch {epoch} and its journal {what}: {_named(commit.operations)}",
            commit.evidence,
            place_in_trace(stamped),
        )

    def _epoch(self, stamped: Stamped) -> int:
        event: Serving = stamped.event  # type: ignore[assignment]
        return event.epoch

    def _on_stopped(self, stamped: Stamped, event: StoppedServing | JournalOpened) -> None:
        if self._serving is not None and self._serving.server == stamped.server:
            self._serving = None

    def finish(self) -> None:
        for stamped in self._waiting.values():
            self._never_committed(stamped)
        self._waiting.clear()
        newest = self._journals.newest
        if self._serving is None or newest is None:
            return
        if newest.epoch <= self._epoch(
            self._serving
        ):  # Otherwise a later tenure commits, but does not serve yet.
            last_sn = self._journals.of(self._serving.server).last_sn
            self._must_hold(self._serving, newest, newest.sn if last_sn is None else last_sn)


def _named(operations: list[tuple[str, int]]) -> str:
    if not operations:
        return "it holds no operation"
    named = ", ".join(f"call {number} of {client}" for client, number in operations[:3])
    return f"lost: {named}" + (f" and {len(operations) - 3} more" if len(operations) > 3 else "")
