"""The request pipeline of SAA §6: what waits for what, and what does not."""

from __future__ import annotations

from nodes.metadata.operations import ContentSummary, Create, List, Mkdir, Stat
from nodes.protocols.symmetric.messages import Alive, Held
from nodes.wire.messages import Message
from tests.simulation.symmetric.lab import SymmetricLab


def test_a_read_waits_only_for_writes_of_what_it_looks_at() -> None:
    """mds3 has the write on its disk and does not know that all have it: it may be answered already (safety rule 20)."""
    lab = SymmetricLab(1)
    lab.ada.call(Mkdir("/ada"))
    lab.eve.call(Mkdir("/eve"))
    lab.run_ms(50)

    def tells(sender: str, target: str, message: Message) -> bool:
        return type(message) in (Held, Alive) and sender == "mds2" and target == "mds3"

    held = lab.cluster.hold(tells)
    lab.ada.call(Mkdir("/ada/x"))
    for operation in (Stat("/eve"), List("/eve"), Stat("/ada/y")):
        task = lab.begin(lab.eve, operation)
        lab.run_ms(2)
        assert task.done(), operation
    kept = [
        lab.begin(lab.eve, each) for each in (Stat("/ada/x"), List("/ada"), Stat("/ada"), ContentSummary("/"))
    ]
    lab.run_ms(20)
    assert not any(task.done() for task in kept)
    held.release()
    lab.run_ms(20)
    assert all(task.done() for task in kept)
    lab.finish()
    assert lab.broken() == {}
