"""Slot `journal_sync`, mechanism `backupnode`: a stream without acknowledgement, as HDFS feeds its BackupNode.

A group is safe as soon as this server's own disk has it; the others are sent it and nobody waits for them. What is on its way when the server
dies is lost by design.
"""

from __future__ import annotations

from nodes.protocols.mams.ssp import Ssp


class Stream(Ssp):
    @property
    def lacks_quorum(self) -> bool:
        return False

    def safe(self, sn: int) -> bool:
        return self.own_durable_sn >= sn
