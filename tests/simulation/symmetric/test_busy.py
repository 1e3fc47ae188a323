"""A busy member acknowledges with its next message; when its callers are answered it acknowledges at once (safety rule 5)."""

from __future__ import annotations

from nodes.config import MILLISECOND
from nodes.metadata.operations import Mkdir
from nodes.protocols.symmetric.messages import Broadcast
from nodes.protocols.symmetric.requests import BUSY_CALLS
from nodes.wire.messages import Message
from tests.simulation.symmetric.lab import SymmetricLab


def test_a_busy_member_holds_its_acknowledgement_back_until_its_callers_are_answered() -> None:
    lab = SymmetricLab(1)
    for client in (lab.ada, lab.eve):
        client.call(Mkdir(f"/{client.client.session}"))
    empty: list[str] = []

    def on_sent(sender: str, receiver: str, message: Message) -> None:
        if type(message) is Broadcast and not message.message.records:
            empty.append(sender)

    lab.cluster.net.on_sent.subscribe(on_sent)
    lab.cluster.servers["mds2"].store.slow_ns = 200 * MILLISECOND
    mine = [lab.ada.spawn(Mkdir(f"/a{number}")) for number in range(BUSY_CALLS)]
    lab.run_ms(50)
    empty.clear()
    other = lab.eve.spawn(Mkdir("/e"))
    lab.run_ms(50)
    assert set(empty) == {"mds2"} and not any(task.done() for task in mine)
    lab.cluster.run_until(other.done)
    assert "mds1" in empty and all(task.done() for task in mine)
    lab.finish()
    assert lab.broken() == {}
