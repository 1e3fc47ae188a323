"""Schedules in which a seeded bug does its damage, by the name of its switch (nodes/mutations.py)."""

from __future__ import annotations

from collections.abc import Callable

from nodes.metadata.operations import Mkdir, Stat
from nodes.protocols.paxos.messages import Accept, Success
from nodes.sim.network import HeldMessages
from nodes.trace.events import Committed
from nodes.wire.messages import Message, Request
from tests.simulation.paxos.lab import Lab

Schedule = Callable[[Lab], None]


def executes_past_hole(lab: Lab) -> None:
    """A member returns; decisions that it missed do not reach it, later slots do, and the primary reports that all are decided."""
    lab.ada.call(Mkdir("/a"))
    behind = lab.secondaries[0]
    lab.faults.crash(behind)
    lab.run_ms(8_000)
    lab.ada.call(Mkdir("/lost"))
    missing = max(stamped.event.sn for stamped in lab.reported(Committed))
    lab.ada.call(Mkdir("/after"))
    slots: list[int] = []

    def lost(sender: str, receiver: str, message: Message) -> bool:
        if type(message) is not Accept or receiver != behind or not message.records:
            return False
        slots.append(message.first)
        return message.first <= missing

    late = lab.cluster.hold(lost)
    lab.faults.restart(behind)
    decisions = lab.cluster.hold(
        lambda sender, receiver, message: type(message) is Success and receiver == behind
    )
    lab.cluster.run_until(lambda: bool(slots))
    lab.run_ms(5)
    decisions.release()
    for number in range(4):
        lab.begin(lab.eve, Mkdir(f"/later{number}"))
        lab.run_ms(5)
    lab.run_ms(100)
    late.release()
    lab.run_ms(2_000)
    for client in (lab.ada, lab.eve):
        for _ in range(4):
            lab.begin_and_wait(client, Stat("/lost"))
    lab.finish_somehow()


def lease_to_another_disk(lab: Lab) -> None:
    """A secondary acknowledges the last slot; its log loses that slot, and the decision reaches it when it runs again."""
    lab.ada.call(Mkdir("/a"))
    lab.eve.call(Stat("/a"))
    lab.run_ms(100)
    first = lab.secondaries[0]
    lab.faults.slow_disk(first, 20)
    decisions = lab.cluster.hold(
        lambda sender, receiver, message: type(message) is Success and receiver == first
    )
    lab.begin(lab.ada, Mkdir("/b"))
    lab.run_ms(10)
    lab.begin(lab.ada, Mkdir("/lost"))
    lab.run_ms(50)
    elsewhere = _ask_elsewhere(lab, first)
    for _ in range(2):
        lab.begin_and_wait(lab.eve, Stat("/lost"))
    elsewhere.drop()
    lab.faults.slow_disk(first, 0)
    records = lab.cluster.hold(
        lambda sender, receiver, message: type(message) is Accept and receiver == first
    )
    lab.faults.crash(first)
    lab.faults.corrupt(first, "journal_tail")
    lab.faults.restart(first)
    lab.run_ms(25)
    decisions.release()
    lab.run_ms(15)
    lab.cluster.hold(lambda sender, receiver, message: type(message) is Request and receiver != first)
    for _ in range(2):
        lab.begin(lab.eve, Stat("/lost"))
        lab.run_ms(5)
    lab.run_ms(600)
    records.release()
    lab.finish_somehow()


def _ask_elsewhere(lab: Lab, server: str) -> HeldMessages:
    return lab.cluster.hold(lambda sender, receiver, message: type(message) is Request and receiver == server)


SCHEDULES: dict[str, Schedule] = {
    "executes_past_hole": executes_past_hole,
    "lease_to_another_disk": lease_to_another_disk,
}
