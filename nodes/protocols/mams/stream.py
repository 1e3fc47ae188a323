"""Slot `journal_sync`, mechanism `backupnode`: a stream without acknowledgement, as HDFS feeds its BackupNode (CFS §2.1).

A group is safe as soon as this server's own disk has it. Receivers acknowledge nothing; the active believes that they have what it sent them.
What is on its way when the server dies is lost by design. A receiver that finds a gap asks for what it lacks (`Mismatch`); one whose session has
ended is sent nothing more.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nodes.protocols.mams.messages import Mismatch, Prepared
from nodes.protocols.mams.ssp import Participant, Ssp


class Stream(Ssp):
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
        self._ignoring.tell(peer, message, "this stream is not acknowledged")

    def _sent(self, participant: Participant, sn: int, now: int) -> None:
        """What was sent counts as received: `matched` and `confirmed` are beliefs here."""
        participant.sent_sn = sn
        participant.sent_at_ns = now
        mark = self._log.mark_at(sn)
        if mark is not None:
            participant.matched, participant.confirmed = mark, True

    def drop_all_but(self, present: Iterable[str]) -> list[str]:
        """Ends the streams to everybody else; returns whose."""
        gone = [name for name in self.participants if name not in present]
        for name in gone:
            del self.participants[name]
        return gone

    def on_tick(self, ack_timeout_ns: int) -> None:
        """The next megabyte to who is behind; nobody is late, because nobody answers."""
        for participant in list(self.participants.values()):
            if participant.sent_sn < self._log.last.sn:
                self.pump(participant)
