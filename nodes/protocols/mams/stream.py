"""Slot `journal_sync`, mechanism `backupnode`: a stream without acknowledgement, as HDFS feeds its BackupNode (CFS §2.1).

A group is safe as soon as this server's own disk has it. Receivers acknowledge nothing; the active assumes that they have what it sent.
Groups in transit when the server dies are lost by design. A receiver that finds a gap asks for the missing groups (`Mismatch`). A receiver whose
session has ended is sent no more groups.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nodes.protocols.mams.messages import Mismatch, Prepared
from nodes.protocols.mams.ssp import Participant, Ssp


class MamsStream(Ssp):
    acknowledged = False

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.handlers = {Mismatch: self.on_mismatch, Prepared: self._on_acknowledgement}

    @property
    def lacks_quorum(self) -> bool:
        return False

    @property
    def lacks_answers(self) -> bool:
        return False

    def safe(self, sn: int) -> bool:
        return self.own_durable_sn >= sn

    def _on_acknowledgement(self, peer: str, message: Prepared) -> None:
        self._ignoring.report(peer, message, "this stream is not acknowledged")

    def _sent(self, participant: Participant, sn: int, now: int) -> None:
        """Sent groups count as received: `matched` and `confirmed` are assumptions here."""
        participant.sent_sn = sn
        participant.sent_at_ns = now
        mark = self._log.mark_at(sn)
        if mark is not None:
            participant.matched, participant.confirmed = mark, True

    def drop_all_but(self, present: Iterable[str]) -> list[str]:
        """Ends the streams to all receivers that are not `present` and returns their names."""
        gone = [name for name in self.participants if name not in present]
        for name in gone:
            del self.participants[name]
        return gone

    def on_tick(self, ack_timeout_ns: int) -> None:
        """Sends the next megabyte to each receiver that is behind. No receiver is late, because none acknowledges.

        A receiver that is sent nothing is probed once per session time-out: it may have a gap, of which no later group tells it.
        """
        now = self._world.clock.monotonic_ns()
        probe_ns = self._world.coordination.session_timeout_ns
        for participant in list(self.participants.values()):
            if participant.sent_sn < self._log.last.sn or now - participant.sent_at_ns >= probe_ns:
                self.pump(participant)
