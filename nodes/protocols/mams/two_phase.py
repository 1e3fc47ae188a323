"""Slot `journal_sync`, mechanism `two_phase`: the classic two-phase commit that CFS §4.1.2 begins with (Fig. 4a).

Four messages per participant (prepare, vote, decision, logged) and two log writes at each server: the group, then the decision. Every member of
the configuration must have answered both; one that does not holds up everybody until it is taken out of the configuration.
"""

from __future__ import annotations

from typing import Any

from nodes.protocols.mams.messages import CommitDecision, DecisionLogged
from nodes.protocols.mams.ssp import RESEND_NS, Ssp


class TwoPhase(Ssp):
    """The second phase on top of the participants of the first."""

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self._deciding_sn = 0
        """The decision up to here is being logged here, or is."""
        self._decided_sn = 0
        """The decision up to here is durable here, and is told to the participants."""
        self._logged: dict[str, int] = {}
        """Participant to the sn up to which it has logged the decision."""
        self._told_at_ns = 0
        self.handlers[DecisionLogged] = self.on_logged
        self._pool.on_own_decision = self._on_own_decision

    def _enough(self, there: list[str], members: list[str]) -> bool:
        return all(member in there for member in members)

    def safe(self, sn: int) -> bool:
        if self._decided_sn < sn or not super().safe(sn):
            return False
        return all(self._logged.get(name, 0) >= sn for name in self.participants)

    # --- steps -------------------------------------------------------------------------------------------------

    def _progressed(self) -> None:
        """All have voted for the last group: the coordinator's second log write."""
        sn = self._log.last.sn
        if sn > self._deciding_sn and super().safe(sn):
            self._deciding_sn = sn
            self._pool.decide_own(self.epoch, sn)
        super()._progressed()

    def _on_own_decision(self, sn: int) -> None:
        self._decided_sn = sn
        self._tell_decision()
        self._progressed()

    def _tell_decision(self) -> None:
        now = self._told_at_ns = self._world.clock.monotonic_ns()
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
            self._ignoring.tell(peer, message, f"of decision {message.sn}; {self._decided_sn} is the last")
            return
        self._logged[peer] = max(message.sn, self._logged.get(peer, 0))
        if self._logged[peer] >= self._decided_sn and participant.matched.sn >= participant.sent_sn:
            participant.waiting_since_ns = 0
        self._progressed()

    def on_tick(self, ack_timeout_ns: int) -> None:
        super().on_tick(ack_timeout_ns)
        if self._world.clock.monotonic_ns() - self._told_at_ns > RESEND_NS:
            self._tell_decision()
