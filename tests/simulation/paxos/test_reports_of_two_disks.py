"""A member's disk is replaced while it reports its slots in several parts."""

from __future__ import annotations

import pytest

from nodes.metadata.operations import Mkdir, Stat
from nodes.protocols.paxos import acceptor
from nodes.protocols.paxos.messages import Accepted, PaxosPromise, Success
from tests.simulation.paxos.lab import Lab


@pytest.mark.parametrize("protocol", ["packed-paxos", "multi-paxos"])
def test_the_end_of_a_report_is_no_report(protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The new disk answers the question for the second part, and the former disk's second part comes after that. A read has shown a slot of the
    former disk's first part."""
    monkeypatch.setattr(acceptor, "PROMISE_BYTES", 2_000)
    lab = Lab(1, protocol=protocol)
    lab.ada.call(Mkdir("/before"))
    first = lab.primary
    elected, witness = lab.secondaries
    lab.faults.do("cut", [elected, first], {"direction": "to"})
    lab.await_letter(elected, "J")
    lab.faults.cut(first, elected)
    answers = lab.cluster.hold(lambda sender, receiver, message: type(message) is Accepted)
    decisions = lab.cluster.hold(
        lambda sender, receiver, message: type(message) is Success and receiver == witness
    )
    for number in range(30):
        lab.begin(lab.ada, Mkdir(f"/d{number}"))
    lab.run_ms(50)
    read = lab.begin(lab.eve, Stat("/d5"))
    answers.release()
    lab.run_ms(50)
    assert read.done()
    lab.faults.crash(first)
    lab.faults.crash(witness)
    decisions.drop()
    lab.faults.heal_all()
    lab.cluster.run_until(lambda: lab.cluster.ensemble.observer.holders.get("g1") == elected)
    parts: list[PaxosPromise] = []

    def is_end(sender: str, receiver: str, message: object) -> bool:
        if type(message) is not PaxosPromise or sender != witness:
            return False
        parts.append(message)
        return message.disk == parts[0].disk and message.from_slot > parts[0].from_slot

    ends = lab.cluster.hold(is_end)
    lab.faults.restart(witness)
    lab.run_ms(200)
    assert ends.messages
    lab.faults.new_disk(witness)
    lab.faults.restart(witness)
    lab.cluster.run_until(lambda: parts[-1].disk != parts[0].disk)
    lab.run_ms(5)
    ends.release()
    lab.run_ms(200)
    lab.faults.restart(first)
    lab.run_ms(10_000)
    lab.begin(lab.eve, Stat("/d5"))
    lab.finish_somehow()
    assert lab.broken() == {}
