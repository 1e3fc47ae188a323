"""Slot `journal_sync`, mechanism `two_phase`: the classic two-phase commit that CFS §4.1.2 begins with (Fig. 4a).

Four messages per participant (prepare, vote, decision, logged) and two log writes at each server: the group, then the decision. Every member of
the configuration must acknowledge both. A silent member blocks all groups until it is removed from the configuration.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from nodes.protocols.mams.messages import CommitDecision, DecisionLogged
from nodes.protocols.mams.ssp import RESEND_NS, Ssp
from nodes.replicas.leader import ASKING


class TwoPhase(Ssp):
    """Adds the decision phase to the prepare phase of `Ssp`."""

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self._deciding_sn = 0
        """Sn of the newest decision that this server has begun to log."""
        self._deciding_at_ns = 0
        """Time when it began."""
        self._decided_sn = 0
        """Sn of the newest decision that is durable here. It is sent to the participants."""
        self._logged: dict[str, int] = {}
        """Sn of the newest decision that each participant has logged, by name."""
        self._reported_at_ns = 0
        self.handlers[DecisionLogged] = self.on_logged

    def _enough(self, there: list[str], members: list[str]) -> bool:
        return all(member in there for member in members)

    def ahead_of_own(self) -> list[str]:
        """None can be ahead while a decision is logged here; after long those that voted count as such, for they wait for nothing else."""
        logs = self._deciding_sn > self._decided_sn
        long_ns = ASKING * self._world.coordination.session_timeout_ns
        if logs and self._world.clock.monotonic_ns() - self._deciding_at_ns > long_ns:
            return self.holders(self._deciding_sn)
        return super().ahead_of_own()

    def safe(self, sn: int) -> bool:
        if self._decided_sn < sn or not super().safe(sn):
            return False
        return all(self._logged.get(name, 0) >= sn for name in self.participants)

    # --- steps -------------------------------------------------------------------------------------------------

    def recount(self) -> None:
        """Logs the coordinator's decision, its second log write, once all members have voted for the last group."""
        sn = self._log.last.sn
        if sn > self._deciding_sn and super().safe(sn):
            self._deciding_sn, self._deciding_at_ns = sn, self._world.clock.monotonic_ns()
            self._pool.decide_own(self.epoch, sn, partial(self._on_own_decision, sn))
        super().recount()

    def _on_own_decision(self, sn: int) -> None:
        self._decided_sn = sn
        self._report_decision()
        self.recount()

    def _report_decision(self) -> None:
        now = self._reported_at_ns = self._world.clock.monotonic_ns()
        mark = self._log.mark_at(self._decided_sn)
        if mark is None:
            return
        for name, participant in self.participants.items():
            if self._logged.get(name, 0) < mark.sn <= participant.matched.sn:
                self._world.network.send(name, CommitDecision(self.epoch, mark))
                participant.waiting_since_ns = participant.waiting_since_ns or now

    def on_logged(self, peer: str, message: DecisionLogged) -> None:
        participant = self.participants.get(peer)
        if not self.is_ours(peer, message) or participant is None:
            return
        if message.sn > self._decided_sn:
            self._ignoring.report(peer, message, f"of decision {message.sn}; {self._decided_sn} is the last")
            return
        self._logged[peer] = max(message.sn, self._logged.get(peer, 0))
        if self._logged[peer] >= self._decided_sn and participant.matched.sn >= participant.sent_sn:
            participant.waiting_since_ns = 0
        self.recount()

    def on_tick(self, ack_timeout_ns: int) -> None:
        super().on_tick(ack_timeout_ns)
        if self._world.clock.monotonic_ns() - self._reported_at_ns > RESEND_NS:
            self._report_decision()
