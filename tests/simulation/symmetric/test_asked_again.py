"""A repeated read keeps its turn: copies of reads do not pile up at a member without a lease."""

from __future__ import annotations

import pytest

from nodes.config import Timing
from nodes.metadata.operations import Mkdir, Stat
from nodes.protocols.symmetric.execution import Execution
from nodes.wire.messages import Answer, Message, Request
from tests.simulation.symmetric.lab import SymmetricLab

READS = 50


def cut_off_with_its_client(lab: SymmetricLab) -> None:
    """mds1 has no lease and learns of no other view; ada reaches no other member."""
    for other in ("mds2", "mds3", "coordination"):
        lab.faults.cut("mds1", other)
    for other in ("mds2", "mds3"):
        lab.faults.cut("ada", other)
    lab.run_ms(500)


def test_a_member_without_a_lease_keeps_each_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = SymmetricLab(1, timing=Timing(client_timeout_ms=30))
    lab.ada.call(Mkdir("/a"))
    cut_off_with_its_client(lab)
    looked: list[Stat] = []
    look = Execution.read_waits_for

    def counted(execution: Execution, operation: Stat, asked_sn: int) -> int:
        looked.append(operation)
        return look(execution, operation, asked_sn)

    monkeypatch.setattr(Execution, "read_waits_for", counted)
    sent: list[str] = []

    def on_sent(sender: str, receiver: str, message: Message) -> None:
        if type(message) in (Request, Answer) and "mds1" in (sender, receiver):
            sent.append(type(message).__name__)

    lab.cluster.net.on_sent.subscribe(on_sent)
    reads = [lab.begin(lab.ada, Stat("/a")) for _ in range(READS)]
    lab.run_ms(1_500)
    assert sent.count("Request") > 10 * READS and not any(read.done() for read in reads)
    assert lab.cluster.ask("mds1", {"do": "counters"})["pipeline"]["idle"] == READS
    assert len(looked) == READS, "each message had all who wait for the lease look again"
    lab.finish()
    assert all(read.result().result for read in reads)
    assert lab.broken() == {}
